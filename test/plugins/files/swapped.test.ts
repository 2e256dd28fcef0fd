/** What a name leads to while a tool looks is not shown, however short it was swapped (threat-model F1). */
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { afterAll, expect, test } from 'vitest'
import type { Files, Processes } from '../../../src/ports/effects.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import { createWorkspace, type Workspace } from './fixture.js'

const processes = createNodeProcesses('/usr/bin:/bin')
afterAll(() => processes.killAll())

const LINES = 6000
const INSIDE = `needle inside${' '.repeat(60)}\n`
const OUTSIDE = `needle SECRET${' '.repeat(60)}\n`

/** A file, or a folder with one, that leads outside from `begin` to `end`. */
interface Scene {
  readonly workspace: Workspace
  readonly name: string
  begin(): void
  end(): void
}

const SHAPES = { 'a file': 'a.txt', 'a folder': 'folder/a.txt' } as const
const SIZES = { small: 1, large: LINES } as const

function scene(shape: keyof typeof SHAPES, size: keyof typeof SIZES, options: Parameters<typeof createWorkspace>[0] = {}): Scene {
  const workspace = createWorkspace(options)
  const name = SHAPES[shape]
  workspace.put(name, INSIDE.repeat(SIZES[size]))
  const outside = join(dirname(workspace.directory), 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'a.txt'), OUTSIDE.repeat(SIZES[size]))
  const [place, target] = shape === 'a file' ? [workspace.path(name), join(outside, 'a.txt')] : [workspace.path('folder'), outside]
  return {
    workspace,
    name,
    begin() {
      renameSync(place, `${place}.kept`)
      symlinkSync(target, place)
    },
    end() {
      unlinkSync(place)
      renameSync(`${place}.kept`, place)
    },
  }
}

const ALL = (['a file', 'a folder'] as const).flatMap((shape) => (['small', 'large'] as const).map((size) => [shape, size] as const))

/** Swapped once the tool has looked at what it is, until it is done. */
function swapAfterLook({ workspace, begin }: Scene, name: string): void {
  const files: Files = workspace.effects.files
  const { stat } = files
  let swapped = false
  Object.assign(files, {
    stat: async (path: string) => {
      const found = await stat(path)
      if (!swapped && path.endsWith(name)) {
        swapped = true
        begin()
      }
      return found
    },
  })
}

test.each(ALL)('reading %s (%s)', async (shape, size) => {
  const plain = scene(shape, size)
  const shown = await plain.workspace.tool('read').run({ filePath: plain.name, limit: 1 })
  expect(shown.output).toContain('needle inside')
  const swapped = scene(shape, size)
  swapAfterLook(swapped, swapped.name)
  await expect(swapped.workspace.tool('read').run({ filePath: swapped.name, limit: 1 })).rejects.toThrow(
    /changed into a link|links lead in a circle/,
  )
})

test.each(ALL)('searching %s (%s) without ripgrep', async (shape, size) => {
  const plain = scene(shape, size)
  const shown = await plain.workspace.tool('grep').run({ pattern: 'needle', limit: 1 })
  expect(shown.output).toContain('needle inside')
  const swapped = scene(shape, size)
  swapAfterLook(swapped, swapped.name)
  const result = await swapped.workspace.tool('grep').run({ pattern: 'needle', limit: 1 })
  expect(result.output).toBe('No files found')
})

/** Ripgrep, that finds the name swapped from its start to its end; `said` is what it printed. */
function swappingRipgrep(said: string[], of: () => Scene): Processes {
  return {
    ...processes,
    async run(command) {
      of().begin()
      try {
        return await processes.run({
          ...command,
          onStdout(text) {
            said.push(text)
            command.onStdout?.(text)
          },
        })
      } finally {
        of().end()
      }
    },
  }
}

test.each(ALL)('searching %s (%s) with ripgrep', async (shape, size) => {
  const said: string[] = []
  const swapped: Scene = scene(shape, size, { ripgrepPath: rgPath, processes: swappingRipgrep(said, () => swapped) })
  const search = async (pattern: string) => (await swapped.workspace.tool('grep').run({ pattern, path: swapped.name, limit: 1 })).output
  const found = await search('needle')
  // It did read what lies outside.
  expect(said.join('')).toContain('SECRET')
  expect(found).toContain('needle inside')
  expect(found).not.toContain('SECRET')
  // What only the other file holds is told in no way, also not by a number or a remark.
  expect([await search('SECRET'), await search('NOWHERE')]).toEqual(['No files found', 'No files found'])
})

test('ripgrep finds what begins with a mark of its encoding, and lines that end as on other systems', async () => {
  const workspace = createWorkspace({ ripgrepPath: rgPath, processes })
  workspace.put('utf8.txt', `\uFEFFneedle one\r\nneedle two`)
  workspace.put('utf16.txt', Buffer.from(`\uFEFFneedle three\r\nneedle four\r\n`, 'utf16le'))
  workspace.put('latin.txt', Buffer.from('needle caf\xe9\n', 'latin1'))
  workspace.put('large16.txt', Buffer.from(`\uFEFFneedle five\n${'other\n'.repeat(60_000)}`, 'utf16le'))
  const { output } = await workspace.tool('grep').run({ pattern: 'needle' })
  for (const word of ['one', 'two', 'three', 'four', 'five', 'caf\uFFFD']) expect(output).toContain(`needle ${word}`)
})
