/** Two packages with the same published revision do not share an approval (choices 28). */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { makePlace, type Place } from '../server/place.js'
import { approve, configurePlugin, lifecycleOf, packageRoot, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'

const ID = 'dev.example.twin'

let scene: Scene
afterEach(async () => scene.close())

/** One file whose content goes on where the next file would begin. */
function writeOne(place: Place): void {
  rmSync(join(packageRoot(place, ID), 'zz.sh'), { force: true })
  writeFileSync(join(packageRoot(place, ID), 'zdata'), Buffer.concat([Buffer.from('x'), Buffer.of(0xff), Buffer.from('zz.sh\0evil')]))
}

/** The same bytes as two files. */
function writeTwo(place: Place): void {
  writeFileSync(join(packageRoot(place, ID), 'zz.sh'), 'evil')
  writeFileSync(join(packageRoot(place, ID), 'zdata'), 'x')
}

async function trust({ repo, env }: Place): Promise<void> {
  await promisify(execFile)(process.execPath, [PROGRAM, 'plugin', 'trust', ID, '--yes'], { cwd: repo, env })
}

test.each(['svc plugin trust', 'a record without a digest'] as const)(
  'approved by %s: the second asks, also after a restart',
  async (way) => {
    scene = openScene(makePlace())
    const { place } = scene
    place.configure({})
    const server = await scene.start()
    const stream = await server.stream({ tail: true })
    writePackage(place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'one') } })
    writeOne(place)
    const one = await lifecycleOf(server, ID)
    await (way === 'svc plugin trust' ? trust(place) : approve(server, place, ID))
    await lifecycleOf(server, ID) // looks now
    await untilState(stream, ID, 'active')

    const from = stream.events.length
    writeTwo(place)
    await lifecycleOf(server, ID)
    const asking = await untilState(stream, ID, 'permission-required', from)
    expect(asking).toMatchObject({
      revision: one?.revision,
      leaseActive: false,
      diagnostics: [{ code: 'permission-required', message: 'the approval is for other content of the same revision' }],
    })
    expect(asking.digest).not.toBe(one?.digest)
    stream.close()
    await server.stop()

    const later = await scene.start()
    expect(await lifecycleOf(later, ID)).toMatchObject({ state: 'permission-required', leaseActive: false })
    const events = await later.stream({ tail: true })
    configurePlugin(place, ID, () => ({})) // an approval in this file would win over the one that is written
    await trust(place)
    await lifecycleOf(later, ID)
    expect(await untilState(events, ID, 'active')).toMatchObject({ revision: one?.revision, leaseActive: true })
    events.close()
  },
)
