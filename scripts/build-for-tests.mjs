/**
 * Run by vitest before the end-to-end tests: they drive the built program. Built once, whatever the number of projects that need it, and not
 * where `SVC_TEST_BUILT` says that it has just been built, as CI does.
 */
import { buildProgram } from './build.mjs'

const BUILT = Symbol.for('svc.test.built')

export async function setup() {
  if (process.env.SVC_TEST_BUILT !== undefined) return
  globalThis[BUILT] ??= buildProgram()
  await globalThis[BUILT]
}
