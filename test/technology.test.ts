import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const Versions = z.record(z.string(), z.string()).default({})
const { dependencies, optionalDependencies, devDependencies } = z
  .object({ dependencies: Versions, optionalDependencies: Versions, devDependencies: Versions })
  .parse(JSON.parse(read('package.json')))

/** Package and version of every line of the table under a heading. */
function tableUnder(heading: string): Record<string, string> {
  const section = read('docs/technology.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const lines = [...section.matchAll(/^\| `([^`]+)` \| (\S+) \| [^|]+ \| [\d.]+[^|]* \| [^|]+ \| [^|]+ \|$/gm)]
  return Object.fromEntries(lines.map(([, name = '', version = '']) => [name, version]))
}

test('docs/technology.md names every package with its version, its size, its licence and who else would do', () => {
  expect(tableUnder('What the program runs on')).toEqual({ ...dependencies, ...optionalDependencies })
  expect(tableUnder('What building and testing needs')).toEqual(devDependencies)
})

test('versions are exact', () => {
  const versions = Object.values({ ...dependencies, ...optionalDependencies, ...devDependencies })
  expect(versions.filter((version) => !/^(?:npm:[\w/@-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([])
})
