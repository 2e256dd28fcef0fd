/** An abort of the screen that comes too late: what is shown is what runs. */
import { expect, test } from 'vitest'
import { type AnyEventObject, createActor, fromCallback, fromPromise } from 'xstate'
import type { Heard } from '../../../src/cli/screen/story/heard.js'
import { hear } from '../../../src/cli/screen/talk/hearing.js'
import { abort, say } from '../../../src/cli/screen/talk/sending.js'
import { choose, createTalk, type Talk } from '../../../src/cli/screen/talk/talk.js'
import { screenMachine } from '../../../src/machines/screen/screen.machine.js'

const OPTIONS = {
  server: undefined,
  directory: '/work',
  agent: undefined,
  isVerbose: false,
  isThinking: false,
} as unknown as Talk['options']

/** A conversation whose server answers aborts when the test says so. */
async function conversation() {
  const asked: { readonly runId: string | undefined; answer(isEnding: boolean): void }[] = []
  const sessions = {
    prompt: () => Promise.reject(new Error('refused')),
    abort: ({ body }: { readonly body: { readonly runId?: string } }) =>
      new Promise<boolean>((answer) => asked.push({ runId: body.runId, answer })),
  }
  const given = { options: OPTIONS, width: () => 80, onChange: () => undefined, giveBack: () => undefined }
  const talk = createTalk(given, (event) => actor.send(event))
  talk.connection = { client: { sessions } } as unknown as Talk['connection']
  const actors = {
    open: fromPromise<unknown, object>(async () => undefined),
    follow: fromCallback<AnyEventObject, object>(() => undefined),
    abort: fromCallback<AnyEventObject, object>(() => abort(talk)),
  }
  const actor = createActor(screenMachine.provide({ actors }), { input: { random: () => 0 } }).start()
  choose(talk, 'ses_1')
  await expect.poll(() => actor.getSnapshot().matches('open')).toBe(true)
  return {
    asked,
    work: () => (actor.getSnapshot().value as { readonly open?: { readonly work: string } }).open?.work,
    /** What was begun before has its outcome. */
    settled: () => talk.lane.run(async () => undefined),
    steer: () => say(talk, { text: 'and this', images: [] }, true),
    interrupt: () => actor.send({ type: 'person.interrupted' }),
    hears: (type: 'busy' | 'idle', runID?: string) =>
      hear(talk, { type: 'session.status', data: { sessionID: 'ses_1', status: { type, runID } } } as unknown as Heard),
  }
}

test.each([
  ['after the end of the first one', true],
  ['at once', false],
])('where the next run has begun %s before a late abort is answered, that run is shown and can be stopped', async (_, isEndHeard) => {
  const { asked, work, interrupt, hears, settled } = await conversation()
  hears('busy', 'run_1')
  interrupt()
  await expect.poll(() => asked.length).toBe(1)
  if (isEndHeard) hears('idle')
  hears('busy', 'run_2')
  asked[0]?.answer(false)
  await settled()
  expect(work()).toBe('running')
  interrupt()
  await expect.poll(() => asked.map(({ runId }) => runId)).toEqual(['run_1', 'run_2'])
  asked[1]?.answer(true)
  await settled()
  expect(work()).toBe('aborting')
  hears('idle')
  expect(work()).toBe('idle')
})

test('where a run follows the one that was ended, it is shown', async () => {
  const { asked, work, interrupt, hears } = await conversation()
  hears('busy', 'run_1')
  interrupt()
  await expect.poll(() => asked.length).toBe(1)
  hears('busy', 'run_1')
  expect(work()).toBe('aborting')
  asked[0]?.answer(true)
  hears('busy', 'run_2')
  expect(work()).toBe('running')
})

test('where nothing runs any more, nothing is shown to run', async () => {
  const { asked, work, interrupt, hears, settled } = await conversation()
  hears('busy', 'run_1')
  interrupt()
  await expect.poll(() => asked.length).toBe(1)
  hears('idle')
  asked[0]?.answer(false)
  await settled()
  expect(work()).toBe('idle')
})

test('a prompt that is refused ends nothing that runs', async () => {
  const { work, hears, steer, settled } = await conversation()
  steer()
  await settled()
  expect(work()).toBe('idle')
  hears('busy', 'run_1')
  steer()
  await settled()
  expect(work()).toBe('running')
})
