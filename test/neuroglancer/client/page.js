/**
 * Neuroglancer with everything that it registers by default. The state is in the address, as always, and is read here: the
 * client's own binding also writes it back while layers are being made, and on a slow machine loses those of annotations by it
 * (2.41.2). Without "?controls" only the views are shown.
 */
import "neuroglancer";
import { makeDefaultViewer } from "neuroglancer/unstable/ui/default_viewer.js";

const showUIControls = location.search === "?controls";
globalThis.viewer = makeDefaultViewer({ showUIControls, showPanelBorders: showUIControls });
globalThis.viewer.state.restoreState(JSON.parse(decodeURIComponent(location.hash.slice("#!".length))));
