/** The test kit: hold a store of your own to what Octavo's stores promise, and see what happens when one fails. */
export { AssertionError } from "./assert.js";
export { failEachOnce, failNth, faultyStore, type Hook, type Operation, recordingStore } from "./observe.js";
export {
  type Behaviour,
  behavioursFor,
  fill,
  type MakeStore,
  runStoreSuite,
  storeBehaviours,
  type TestFramework,
} from "./store-suite.js";
