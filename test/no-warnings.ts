/** A warning of Node is a mistake of ours: here it fails the run, with the place it came from. Files share a process, so it is heard once. */
const HEARD = Symbol.for('svc.test.hears-warnings')

if (!Reflect.has(process, HEARD)) {
  Reflect.set(process, HEARD, true)
  process.on('warning', (warning) => {
    throw new Error(`${warning.name}: ${warning.message}`, { cause: warning.stack })
  })
}
