/** How long is waited for what should come or end, ms: only what hangs is ended by it, however busy the machine is. */
export const PATIENCE = 60_000
