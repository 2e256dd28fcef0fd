import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import { expect, it } from 'vitest'
import { growLater, optimizeAsEver, optimizeLater } from '../../src/platform/node/optimizing.js'
import { VERSION } from '../../src/server/version.js'

const DIST = join(import.meta.dirname, '..', '..', 'dist')
/** Those of dynamic imports are inside of functions that are called later. */
const STATIC_IMPORT = /(?<!\.then\(\(\)=>\w*\(?)require\("(\.{1,2}\/[^"]+)"\)/g

/** Files that are loaded with one, itself included. */
function loadedWith(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) loadedWith(join(dirname(file), path), known)
  return known
}

/** The version of V8 with the flags that the entry sets first. */
function versionTag(): string {
  optimizeLater()
  growLater()
  try {
    return String(cachedDataVersionTag())
  } finally {
    optimizeAsEver()
    setFlagsFromString('--semi-space-growth-factor=2')
  }
}

it('the program is what V8 keeps of it for this Node, and the same without that', () => {
  const made = readdirSync(join(DIST, 'compiled', versionTag()))
  expect(made).toEqual(expect.arrayContaining(['serve.cjs', 'svc.cjs']))
  const copy = mkdtempSync(join(tmpdir(), 'svc-bundle-'))
  try {
    for (const name of ['main.js', 'svc.cjs', 'chunks']) cpSync(join(DIST, name), join(copy, name), { recursive: true })
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
    for (const folder of [DIST, copy])
      expect(execFileSync(process.execPath, [join(folder, 'main.js'), '--version'], { encoding: 'utf8' })).toBe(`${VERSION}\n`)
  } finally {
    rmSync(copy, { recursive: true })
  }
})

it('no source of the server has a character beyond ASCII, which would make V8 keep it twice as wide', () => {
  const sources = [...loadedWith(join(DIST, 'serve.cjs')), ...loadedWith(join(DIST, 'svc.cjs'))]
  const chunks = readdirSync(join(DIST, 'chunks')).flatMap((name) => (name.endsWith('.cjs') ? [join(DIST, 'chunks', name)] : []))
  const wide = (file: string) => /[^\p{ASCII}]/u.test(readFileSync(file, 'utf8'))
  expect([...new Set([...sources, ...chunks])].filter(wide)).toEqual([])
  expect(wide(join(DIST, '..', 'src', 'actors', 'session', 'compaction', 'summary-text.ts'))).toBe(true)
})

it('the server is one file and a few it shares with what is loaded later', () => {
  expect(loadedWith(join(DIST, 'serve.cjs')).size).toBeLessThanOrEqual(16)
})

it('a conversation in a terminal loads no schemas: they take a tenth of its memory', () => {
  const chunks = readdirSync(join(DIST, 'chunks')).flatMap((name) =>
    /^(?:screen|plain)-.*\.cjs$/.test(name) ? [join(DIST, 'chunks', name)] : [],
  )
  const hasSchemas = (file: string) => readFileSync(file, 'utf8').includes('ZodType')
  expect(chunks).toHaveLength(2)
  expect(chunks.flatMap((file) => [...loadedWith(file)]).filter(hasSchemas)).toEqual([])
  expect([...loadedWith(join(DIST, 'serve.cjs'))].some(hasSchemas)).toBe(true)
})
