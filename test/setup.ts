/** Once before the tests: nothing yet. */
export default function setup(): void {}
