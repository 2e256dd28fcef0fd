import { expect, test } from 'vitest'
import { beginWork } from '../../../src/kernel/work.js'
import { readContent } from '../../../src/plugins/workflows/files/sources.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { createDisk } from '../../../src/simulation/disk.js'
import { workflowEffects, workflowFile } from './service.js'

const PATH = '/workflows/one.md'

test('a file whose bytes are known is not made out again, and one that has changed is', async () => {
  const { sha256 } = workflowEffects().effects
  const clock = createFakeClock()
  const files = createDisk(() => clock.now())
  const read = (known?: Awaited<ReturnType<typeof readContent>>) =>
    readContent({ effects: { files, clock, sha256 }, budget: { used: 0 }, work: beginWork(1_000_000) }, PATH, known)
  files.place(PATH, workflowFile())
  const first = await read()
  expect(first).toMatchObject({ ok: true })
  expect(await read()).not.toBe(first)
  expect(await read(first)).toBe(first)
  files.place(PATH, workflowFile({}, 'Something else.'))
  expect(await read(first)).toMatchObject({ ok: true, definition: { prompt: expect.stringContaining('Something else.') } })
})
