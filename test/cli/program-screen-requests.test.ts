// A request is asked in one place and seen in every other one; whoever answers first decides, once. The built program, one server.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { leave, type Opened, openConversation, script } from './conversation.js'
import { type Home, makeHome } from './program.js'

let shared: Home
let url: string

beforeAll(async () => {
  shared = makeHome()
  mkdirSync(join(shared.path, '.config/svc'), { recursive: true })
  const config = { model: 'svc/offline', agent: { title: { disable: true } }, permission: { bash: 'ask' } }
  writeFileSync(join(shared.path, '.config/svc/config.json'), JSON.stringify(config))
  ;({ url } = await shared.serve())
})
afterAll(() => shared.close())

const client = () => createClient({ baseUrl: url })
const run = (name: string) => ({ tool: 'bash', input: { command: `echo ${name} >> ran.txt` } })
const PLACES = ['screen', 'command', 'http'] as const
const callsOf = (asked: string) => script(...PLACES.map((place) => run(`${asked}-${place}`)), { text: 'All ran.' })

async function prompted(home: Home, prompt: string): Promise<string> {
  const { id } = await client().sessions.create({ directory: home.workspace, body: { title: 'asks' } })
  await client().sessions.prompt({ sessionId: id, body: { prompt } })
  return id
}

/** The request for the call, as soon as it waits. */
async function waiting(name: string): Promise<{ readonly id: string; readonly sessionId: string }> {
  const find = async () => (await client().interactions.permissions.list()).find(({ title }) => title.includes(name))
  await expect.poll(find).toBeDefined()
  const { id = '', sessionId = '' } = (await find()) ?? {}
  return { id, sessionId }
}

/** What begins a run, and the session whose conversation shows its requests. */
const ASKED_BY = {
  http: (home: Home) => prompted(home, callsOf('http')),
  subagent: (home: Home) =>
    prompted(
      home,
      script(
        { tool: 'task', input: { description: 'three calls', prompt: callsOf('subagent'), subagent_type: 'general' } },
        { text: 'Told.' },
      ),
    ),
  async workflow(home: Home) {
    mkdirSync(join(home.workspace, '.svc/workflows'), { recursive: true })
    const schedule = 'schedule: {frequency: daily, time: "02:30", timezone: UTC}'
    writeFileSync(
      join(home.workspace, '.svc/workflows/calls.md'),
      `---\nid: calls\nname: Calls\nactive: true\n${schedule}\n---\n${callsOf('workflow')}\n`,
    )
    const { code, stderr } = await home.run(['workflow', 'run', 'calls'])
    if (code !== 0) throw new Error(stderr)
    return (await waiting('workflow-screen')).sessionId
  },
} as const

/** Answers in one place. */
const ANSWER: Readonly<Record<(typeof PLACES)[number], (home: Home, id: string, screen: Opened) => Promise<void>>> = {
  screen: (_, __, screen) => Promise.resolve(screen.type('y\r')),
  async command(home, id) {
    expect(await home.run(['requests', 'answer', id, 'y'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('allowed once, by local'),
    })
  },
  async http(_, id) {
    await client().interactions.permissions.reply({ requestId: id, body: { reply: 'once' } })
  },
}

test.each(Object.keys(ASKED_BY) as readonly (keyof typeof ASKED_BY)[])(
  'what is asked by %s is seen and answered everywhere, once',
  async (asked) => {
    const home = shared.elsewhere()
    const sessionId = await ASKED_BY[asked](home)
    const screen = openConversation(shared, { at: home, args: ['--session', sessionId], size: { cols: 100, rows: 40 } })
    // Calls of one step are asked about in any order: the screen asks as they came.
    await Promise.all(PLACES.map((place) => waiting(`${asked}-${place}`)))
    const titles = (await client().interactions.permissions.list()).map(({ title }) => title)
    const asksFor = (place: string) => titles.findIndex((title) => title.includes(`${asked}-${place}`))
    for (const place of PLACES.toSorted((a, b) => asksFor(a) - asksFor(b))) {
      const { id } = await waiting(`${asked}-${place}`)
      await screen.shows(new RegExp(`^Allow Run: echo ${asked}-${place} `, 'm'))
      const { stdout } = await home.run(['requests', 'list', '--session', sessionId, '--json'])
      expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ id, title: expect.stringContaining(`echo ${asked}-${place} `) }))
      await ANSWER[place](home, id, screen)
      await screen.shows(new RegExp(`^allowed once${place === 'screen' ? '' : ' elsewhere'}: Run: echo ${asked}-${place} `, 'm'))
      // Who comes late is told so, and changes nothing.
      expect(await home.run(['requests', 'answer', id, 'n'])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^svc: too late: .*allowed once/),
      })
      expect(await client().interactions.permissions.reply({ requestId: id, body: { reply: 'reject' } })).toBe(true)
    }
    const ran = () => readFileSync(join(home.workspace, 'ran.txt'), 'utf8').trimEnd().split('\n').toSorted()
    await expect.poll(ran).toEqual(PLACES.map((place) => `${asked}-${place}`).toSorted())
    await screen.shows(asked === 'subagent' ? /^told: A task you delegated has ended/m : /^All ran\.$/m)
    await screen.shows(/^› $/m)
    const { code, screen: shown } = await leave(screen)
    expect([code, shown.match(/^refused/gm)]).toEqual([0, null])
  },
)

describe('a remembered answer', () => {
  test('is given on the screen, listed and explained, taken back there, and asked again', async () => {
    const home = shared.elsewhere()
    const screen = openConversation(shared, { at: home, size: { cols: 100, rows: 40 } })
    const call = (word: string) => script({ tool: 'bash', input: { command: 'echo kept' } }, { text: word })
    await screen.shows(/^› $/m)
    screen.say(call('First.'))
    await screen.shows(/^Allow Run: echo kept/m)
    screen.type('a\r')
    await screen.shows(/^allowed from now on: Run: echo kept[^]*^First\.$/m)
    screen.say(call('Second.'))
    await screen.shows(/^Second\.$/m)
    screen.type('/permissions\r')
    await screen.shows(/^ 1 {2}bash: echo kept {2}\d{4}-\d\d-\d\d local$/m)
    screen.type('/permissions explain echo kept\r')
    await screen.shows(/^allowed: echo kept[^]*bash: echo kept, by the answer/m)
    expect((await home.run(['permissions', 'explain', 'echo kept'])).stdout).toMatch(
      /^allowed: echo kept[^]*by the answer \w+ that local gave/,
    )
    // From another folder, too: answers belong to where the session works.
    const [session] = (await client().sessions.list({ directory: home.workspace })).items
    const other = openConversation(shared, { args: ['--session', session?.id ?? ''], size: { cols: 100, rows: 40 } })
    await other.shows(/^Second\.$[^]*^› $/m)
    other.type('/permissions\r')
    await other.shows(/^ 1 {2}bash: echo kept/m)
    expect((await leave(other)).code).toBe(0)
    screen.type('/permissions forget 1\r')
    await screen.shows(/^asked again from now on: bash: echo kept$/m)
    screen.say(call('Third.'))
    await screen.shows(/asked again from now on[^]*^Allow Run: echo kept/m)
    screen.type('not today\r')
    await screen.shows(/^refused: Run: echo kept/m)
    expect((await leave(screen)).code).toBe(0)
  })
})
