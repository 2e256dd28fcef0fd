import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { importsOf } from './architecture/source.js'

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const page = readFileSync(at('docs/architecture.md'), 'utf8')

interface Stop {
  readonly path: string
  readonly name: string
}

/** The functions a numbered walk names, in its order: `` `src/a.ts` `f` ``. */
function walk(title: string): Stop[] {
  const section = page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/`(src\/[\w./-]+\.ts)`\s+`(\w+)`/g)].map(([, path = '', name = '']) => ({ path, name }))
}

const declares = ({ path, name }: Stop) =>
  new RegExp(`^export (?:async )?(?:function|const) ${name}\\b`, 'm').test(readFileSync(at(path), 'utf8'))

/** Files that give the parts of a walk to each other. */
const WIRING = [
  'src/actors/runtime/assembly.ts',
  'src/actors/session/sessions.ts',
  'src/actors/plugin/plugin-system.ts',
  'src/http/server.ts',
]

describe('docs/architecture.md', () => {
  test('names only files and folders that exist', () => {
    const named = [...page.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path)
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((path) => !existsSync(at(path)))).toEqual([])
  })

  test.each(['A prompt becomes a stream', 'A call goes into a plugin', 'A plugin comes to life', 'A workflow comes to run'])(
    '%s: each function is there, and named near one before it',
    (title) => {
      const stops = walk(title)
      expect(stops.length).toBeGreaterThanOrEqual(5)
      expect(stops.filter((stop) => !declares(stop))).toEqual([])
      const lost = stops.filter(({ path, name }, index) => {
        if (index === 0) return false
        const near = [...stops.slice(0, index).map((stop) => stop.path), ...WIRING].flatMap((file) => [file, ...importedBy(file)])
        return !near.some((file) => (file !== path || stops.slice(0, index).some((stop) => stop.path === path)) && mentions(file, name))
      })
      expect(lost).toEqual([])
    },
  )
})

function mentions(file: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(readFileSync(at(file), 'utf8'))
}

function importedBy(file: string): string[] {
  return importsOf(readFileSync(at(file), 'utf8'))
    .filter(({ specifier }) => specifier.startsWith('.') && specifier.endsWith('.js'))
    .map(({ specifier }) => posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts'))
}
