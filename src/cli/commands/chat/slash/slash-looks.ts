/** Commands that show how things stand. */
import { printable } from '../../../../protocol/text/visible-text.js'
import { clip, type Line, span } from '../../../terminal/span.js'
import { explanationText } from '../../permission/explanation-text.js'
import { shortTitle } from '../../session/session-record.js'
import { inSession, type SlashCommand, type Spoken } from './slash-command.js'

const DIFF_LINES = 200
const FORGET = /^forget\s+(\d+)$/
const EXPLAIN = /^explain\s+(\S[^]*)$/

export const STATUS: SlashCommand = {
  does: 'which session, model and agent this is, and what waits',
  async run(spoken) {
    const { client, sessionId, directory, model, agent } = spoken
    const { defaultAgent } = await client.config.defaults({ directory })
    const rows: [string, string][] = [['directory', directory]]
    if (sessionId !== undefined) {
      const [session, statuses, queue] = await Promise.all([
        client.sessions.get({ sessionId }),
        client.sessions.status(),
        client.sessions.queue.list({ sessionId }),
      ])
      rows.unshift(['session', `${sessionId}  ${shortTitle(session.title)}`])
      rows.push(['state', statuses[sessionId]?.type ?? 'idle'])
      if (queue.count > 0) rows.push(['waiting', `${queue.count} ${queue.count === 1 ? 'prompt' : 'prompts'}`])
      if (model === undefined && session.model !== undefined) rows.push(['model', `${session.model.providerId}/${session.model.id}`])
      rows.push(['agent', agent ?? session.agent ?? defaultAgent ?? ''])
    } else rows.push(['agent', agent ?? defaultAgent ?? ''])
    if (model !== undefined) rows.push(['model', `${model.providerId}/${model.modelId}, chosen here`])
    spoken.lines(rows.map(([name, value]): Line => [span(name.padEnd(11), 'dim'), span(printable(value))]))
  },
}

export const DIFF: SlashCommand = {
  does: 'what differs from the last commit',
  run: inSession(async (spoken, sessionId) => {
    const files = await spoken.client.sessions.diff({ sessionId })
    if (files.length === 0) return spoken.note('nothing differs from the last commit')
    const width = spoken.width()
    const lines = files.flatMap(({ path, additions, deletions, patch }): readonly Line[] => [
      [span(clip(printable(path), Math.max(10, width - 16)), 'bold'), span(`  +${additions}`, 'green'), span(` -${deletions}`, 'red')],
      ...patchLines(patch, width),
    ])
    const left = lines.length - DIFF_LINES
    spoken.lines(left > 0 ? [...lines.slice(0, DIFF_LINES), [span(`… ${left} more lines (git diff)`, 'dim')]] : lines)
  }),
}

export const COST: SlashCommand = {
  does: 'what the session has used and cost',
  run: inSession(async (spoken, sessionId) => {
    const { usage } = await spoken.client.sessions.runtime({ sessionId })
    if (usage === undefined) return spoken.note('nothing has been used yet')
    const { tokens, cost } = usage
    const cached = tokens.cache.read > 0 ? ` (${tokens.cache.read} more from its cache)` : ''
    spoken.note(`${tokens.input} tokens in${cached}, ${tokens.output} out, with those of subagents · cost ${cost.toFixed(4)}`)
  }),
}

export const GOAL: SlashCommand = {
  words: '<text>',
  does: 'what the session is after; /goal pause, resume or clear; alone, the goal there is',
  run: inSession(async ({ client, note }, sessionId, rest) => {
    const { goals } = client.plugins
    const body = rest === 'pause' ? { paused: true } : rest === 'resume' ? { paused: false } : { text: rest }
    if (rest === 'clear') await goals.clear({ sessionId })
    const { goal } = rest === '' || rest === 'clear' ? await goals.get({ sessionId }) : await goals.set({ sessionId, body })
    if (goal === null) return note('the session has no goal')
    note(`goal (${goal.paused ? 'paused' : goal.status}): ${goal.text}${goal.summary === '' ? '' : ` · ${goal.summary}`}`)
  }),
}

export const PERMISSIONS: SlashCommand = {
  words: 'forget <number>',
  does: 'what is remembered as allowed here; forget takes one back; explain <command> says what would be decided',
  async run(spoken, rest) {
    const { client } = spoken
    const directory = await placeOf(spoken)
    const [, command] = EXPLAIN.exec(rest) ?? []
    if (command !== undefined) return explain(spoken, directory, command)
    const remembered = await client.interactions.remembered.list({ directory })
    const [, number] = FORGET.exec(rest) ?? []
    if (number !== undefined) return forget(spoken, directory, remembered[Number(number) - 1])
    if (rest !== '') return spoken.note('what? /permissions, /permissions forget <number>, or /permissions explain <command>')
    if (remembered.length === 0) return spoken.note('nothing is remembered here; svc agents tells the rules')
    spoken.lines(
      remembered.map(({ permission, pattern, exact, remembered: at, by }, index): Line => {
        const origin = [
          ...(at === undefined ? [] : [new Date(at).toISOString().slice(0, 10)]),
          ...(by === undefined ? [] : [printable(by)]),
        ].join(' ')
        return [
          span(`${String(index + 1).padStart(2)}  `, 'cyan'),
          span(`${printable(permission)}: ${printable(pattern)}`),
          span(`${exact === true ? '' : ' (a pattern)'}${origin === '' ? '' : `  ${origin}`}`, 'dim'),
        ]
      }),
    )
    spoken.note('/permissions forget <number> has it asked again')
  },
}

/** Where the session works; answers belong to that. */
async function placeOf({ client, sessionId, directory }: Spoken): Promise<string> {
  return sessionId === undefined ? directory : (await client.sessions.get({ sessionId })).directory
}

/** As `svc permissions explain` does, for who answers from now on. */
async function explain(spoken: Spoken, directory: string, command: string): Promise<void> {
  const { client, sessionId, agent } = spoken
  const who = { ...(sessionId !== undefined && { sessionId }), ...(agent !== undefined && { agent }) }
  const explanation = await client.interactions.explain({ command, directory, ...who })
  spoken.lines(
    explanationText(command, explanation)
      .trimEnd()
      .split('\n')
      .map((line): Line => [span(line)]),
  )
}

async function forget(
  { client, note }: Spoken,
  directory: string,
  answer: { readonly id: string; readonly permission: string; readonly pattern: string } | undefined,
): Promise<void> {
  if (answer === undefined) return note('there is no such answer; /permissions lists them')
  await client.interactions.remembered.forget({ answerId: answer.id, directory })
  note(`asked again from now on: ${answer.permission}: ${answer.pattern}`)
}

function patchLines(patch: string, width: number): readonly Line[] {
  const lines = patch.split('\n').filter((line) => /^[-+ @]/.test(line) && !/^(?:---|\+\+\+) /.test(line))
  return lines.map((line): Line => {
    const text = clip(`  ${printable(line.replaceAll('\t', '  '))}`, width)
    return [line.startsWith('+') ? span(text, 'green') : line.startsWith('-') ? span(text, 'red') : span(text, 'dim')]
  })
}
