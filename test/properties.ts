/**
 * Properties draw the same examples on every push, so that what fails here fails for everybody; OCTAVO_SEED=random or a
 * number looks for others.
 */
import fc from "fast-check";

const wanted = process.env.OCTAVO_SEED;
if (wanted !== "random") fc.configureGlobal({ seed: wanted === undefined ? 20260418 : Number(wanted) });
