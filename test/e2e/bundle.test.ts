import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const DIST = join(import.meta.dirname, '..', '..', 'dist')
const STATIC_IMPORT = /(?:from|import) ?"(\.{1,2}\/[^"]+)"/g

/** Files that are loaded with one, itself included. */
function loadedWith(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) loadedWith(join(dirname(file), path), known)
  return known
}

it('the server is one file and a few it shares with what is loaded later', () => {
  expect(loadedWith(join(DIST, 'serve.js')).size).toBeLessThanOrEqual(12)
})
