/**
 * Neuroglancer with everything that it registers by default, without the controls around its views. The state is in the address,
 * as always, and is read here: the client's own binding also writes it back while layers are being made, and on a slow machine
 * loses those of annotations by it (2.41.2).
 */
import "neuroglancer";
import { makeDefaultViewer } from "neuroglancer/unstable/ui/default_viewer.js";

globalThis.viewer = makeDefaultViewer({ showUIControls: false, showPanelBorders: false });
globalThis.viewer.state.restoreState(JSON.parse(decodeURIComponent(location.hash.slice("#!".length))));
