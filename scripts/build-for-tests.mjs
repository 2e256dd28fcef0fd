/** Run by vitest before the end-to-end tests: they drive the built program. */
import { buildProgram } from './build.mjs'

export async function setup() {
  await buildProgram()
}
