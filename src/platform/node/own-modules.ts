/**
 * What a server loads of Node, loaded before a flag of V8 is set: Node has compiled its own modules with the flags that it was built with, and
 * makes nothing of that with others. Saves a twentieth of the processor time of a start.
 */
const OF_SERVER = [
  'assert',
  'child_process',
  'cluster',
  'crypto',
  'dns',
  'fs/promises',
  'http',
  'os',
  'perf_hooks',
  'stream/promises',
  'string_decoder',
  'timers/promises',
  'tty',
  'worker_threads',
]

/** Before `optimizeLater`. */
export function loadOwnModules(): void {
  for (const name of OF_SERVER) process.getBuiltinModule(`node:${name}`)
}
