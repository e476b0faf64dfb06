/** Small files of LAZ. */
import { gunzipSync } from "node:zlib";

const unpack = (text: string): Uint8Array => new Uint8Array(gunzipSync(Buffer.from(text, "base64")));

/** Six points, as laspy 2.7.0 with lazrs wrote them: points of format 3, and layers of format 7; one extra byte. */
export const POINTS = unpack(
  "H4sIAAAAAAACA/NxDHZjwAIYmfxDPFyDGHCDnMTigkoFIz1zPQOs8g6Mr9gfM3gyMTAAEUOzMgMbAz7wwB47reIAoU2gtB2U1nRAlbfErq7BGkj7AD0ZH1yQmgy1i4XhAINrRUlRooJTZUlqsUJQanJ+UQpGELClpjAMYQCMoKrMAoXUvOT8FJBP9oRZMWSUlBRY6etDpPTyi9LR9ICiiokJwg44zMDwHw2wAGNRBKiKnYEDSHIAeSDFjEDyCBPRDnOasuTonxdep7VnszAwcDIVlGycfuxSzHWLb5oZDCz/Tc+cPHNl/T6znH0SGxhYO5/trTx3Z8LWxp5rDwUY2NSfHuqccvbB1GfcDYYPGPhVbBtgkQXEtqbA6AIAG+yF5dECAAA=",
);
export const LAYERS = unpack(
  "H4sIAAAAAAACA/NxDHZjwAIYWfxDPFyDGHCDnMTigkoFIz1zPQOs8g6Mr9jLGa8zMTAAEUO7KgN+8MAeO63iAKFNoLQdlNZ0QJW3xK6uwdoBm21sDAMNfIABHx9ckJoM5bMwHGBwrSgpSlRwqixJLVYISk3OL0rBiBa21BSGIQyAiaYqs0AhNS85PwXkkz1hJgwZJSUFVvr6ECm9/KJ0ND3MQMzEBGEHHGZg+I8GmBm4GOSAqriBscrMwMfACCSnMZPgKFBiEABidiQxHjQ1mkDMC8ScQKzAwX3LePPLhSmCvQ8YQfru1YUCqaXufcJf0m91XgOyk71+XVheAXS3L+95HyBtucop5xcDA/cTQ8YjAgxM7obckg0MIL1NfPtjGXYxljDdAMUuI0NDQwMsqoHYeRIwsgGWoA4WowMAAA==",
);
