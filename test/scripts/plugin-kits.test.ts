/** What the libraries of plugin authors say of the host is what the protocol says by now: `npm run kits`. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/plugin-kits.mjs', import.meta.url))

test('the libraries and the page of the host are fresh', () => {
  expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('')
})
