import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Placeholder } from '../../../src/ports/process-facts.js'
import { createPlaceholders } from '../../../src/platform/node/files/placeholders.js'

const root = mkdtempSync(join(tmpdir(), 'svc-placeholders-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let place: string
let kept: Set<string>
beforeEach(() => {
  place = mkdtempSync(join(root, 'place-'))
  kept = new Set()
})

const start = () =>
  createPlaceholders({
    keep: async (paths) => paths.forEach((path) => kept.add(path)),
    drop: (paths) => paths.forEach((path) => kept.delete(path)),
  })
const wanted = (...names: string[]): readonly Placeholder[] =>
  names.map((name) => ({
    path: join(place, name),
    kind: name === '.hg' ? 'socket' : 'directory',
    ...(name === '.vscode' && { isOpen: true }),
  }))
const names = () => readdirSync(place).toSorted()

describe('a placeholder', () => {
  it('takes a name while it is held, and leaves nothing', async () => {
    const letGo = await start().hold(wanted('svc.json', '.hg', '.vscode', '.vscode/tasks.json'))
    expect(names()).toEqual(['.hg', '.vscode', 'svc.json'])
    expect([lstatSync(join(place, '.hg')).isSocket(), lstatSync(join(place, 'svc.json')).mode & 0o777]).toEqual([true, 0o555])
    expect(kept.size).toBe(4)
    await letGo()
    expect([names(), [...kept]]).toEqual([[], []])
  })

  it('leaves what is there, of whatever kind, and what was made in it', async () => {
    writeFileSync(join(place, 'svc.json'), '{}')
    mkdirSync(join(place, '.svc'))
    const letGo = await start().hold(wanted('svc.json', '.svc', '.hg', '.vscode', '.vscode/tasks.json'))
    writeFileSync(join(place, '.vscode/extensions.json'), '{}')
    await letGo()
    expect([names(), readdirSync(join(place, '.vscode'))]).toEqual([['.svc', '.vscode', 'svc.json'], ['extensions.json']])
  })

  it('goes with the last of those that share it', async () => {
    const holders = start()
    const first = await holders.hold(wanted('svc.json'))
    const second = await holders.hold(wanted('svc.json', '.svc'))
    await first()
    expect(names()).toEqual(['.svc', 'svc.json'])
    await second()
    expect(names()).toEqual([])
  })

  it('of a server that is gone belongs to who needs the name next, and that of another one to that', async () => {
    const makers: readonly [string, number][] = [
      ['svc.json', 8_000_000],
      ['.svc', process.ppid],
    ]
    for (const [name, maker] of makers) {
      mkdirSync(join(place, name))
      chmodSync(join(place, name), 0o555)
      utimesSync(join(place, name), 31_536_000 + maker, 31_536_000 + maker)
    }
    const letGo = await start().hold(wanted('svc.json', '.svc'))
    await letGo()
    expect(names()).toEqual(['.svc'])
  })

  it('is refused where as many hold something as may, and never to who lets go', async () => {
    const few = createPlaceholders({ keep: async () => undefined, drop: () => undefined }, 2)
    await expect(few.hold(wanted('absent/one'))).rejects.toThrow('ENOENT')
    const [one, two] = await Promise.all([few.hold(wanted('svc.json')), few.hold(wanted('svc.json'))])
    await expect(few.hold(wanted('svc.json'))).rejects.toMatchObject({ code: 'quota.exceeded' })
    await Promise.all([one(), two()])
    expect(names()).toEqual([])
    await (await few.hold(wanted('svc.json')))()
  })

  it('that cannot be made leaves none of the others', async () => {
    await expect(start().hold(wanted('svc.json', 'absent/one'))).rejects.toThrow('ENOENT')
    expect([names(), [...kept]]).toEqual([[], []])
    expect(existsSync(join(place, 'absent'))).toBe(false)
  })

  it('may have a name too long for a socket address', async () => {
    place = join(place, 'a'.repeat(120))
    mkdirSync(place)
    const letGo = await start().hold(wanted('.hg'))
    expect(names()).toEqual(['.hg'])
    await letGo()
    expect(names()).toEqual([])
  })
})
