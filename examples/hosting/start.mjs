/** Builds the example and starts all of it: a database, a bridge, two controllers, two workspaces. See README.md. */
await import('./build.mjs')
await import('./dist/start.js')
