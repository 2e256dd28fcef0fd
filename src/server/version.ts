/** Set by the build from package.json. */
declare const SVC_VERSION: string

/** Version of this program, e.g. `0.1.0`. */
export const VERSION = SVC_VERSION
