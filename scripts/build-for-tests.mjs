/** Run by vitest before the end-to-end tests: they drive the built program. Built once, whatever the number of projects that need it. */
import { buildProgram } from './build.mjs'

const BUILT = Symbol.for('svc.test.built')

export async function setup() {
  globalThis[BUILT] ??= buildProgram()
  await globalThis[BUILT]
}
