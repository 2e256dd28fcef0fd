import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { loadCompiled } from '../../../src/platform/node/compiled.js'

const PROGRAM = 'exports.near=require("./chunks/near.cjs").name;exports.later=()=>"not called before, so compiled from the text";'
const NEAR = 'exports.name="near";exports.file=__filename;'

const places: string[] = []
afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true })
})

/** A build of two files, with what V8 made of those that are named; answers where its entry is. */
function built(kept: readonly ('program.cjs' | 'chunks_near.cjs')[]): string {
  const place = mkdtempSync(join(tmpdir(), 'svc-compiled-'))
  places.push(place)
  const compiled = join(place, 'compiled', String(cachedDataVersionTag()))
  mkdirSync(compiled, { recursive: true })
  mkdirSync(join(place, 'chunks'))
  writeFileSync(join(place, 'program.cjs'), PROGRAM)
  writeFileSync(join(place, 'chunks/near.cjs'), NEAR)
  const texts = { 'program.cjs': PROGRAM, 'chunks_near.cjs': NEAR }
  for (const name of kept)
    writeFileSync(
      join(compiled, name),
      new Script(`(function(exports,require,module,__filename){${texts[name]}\n})`, { filename: name }).createCachedData(),
    )
  return join(place, 'main.js')
}

describe('a program of the build', () => {
  it.each([
    { what: 'nothing', kept: [] },
    { what: 'one file', kept: ['program.cjs'] },
    { what: 'all', kept: ['program.cjs', 'chunks_near.cjs'] },
  ] as const)('is loaded where V8 kept $what of it, and what it did not call yet is its text', ({ kept }) => {
    const program = loadCompiled(built(kept), 'program.cjs') as { near: string; later(): string }
    expect(program.near).toBe('near')
    expect(program.later()).toBe('not called before, so compiled from the text')
    expect(program.later.toString()).toBe('()=>"not called before, so compiled from the text"')
  })

  it('fails where one of its files is missing', () => {
    const entry = built([])
    expect(() => loadCompiled(entry, 'others.cjs')).toThrow(/ENOENT/)
  })
})
