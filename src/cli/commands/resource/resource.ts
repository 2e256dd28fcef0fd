/** `svc agent`, `svc command`, `svc skill` and `svc tool`: what a directory has of each, as the server sees it. */
import { cut } from '../../../kernel/cut.js'
import { readFileSync } from 'node:fs'
import type { Client } from '../../../published/client/client-types.js'
import type { Agent, Command, Skill, Tool } from '../../../protocol/resource/resource.js'
import { SvcError } from '../../../protocol/errors.js'
import { escapedText, printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { jsonText, screenWidth, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import { meant } from '../../line/nearest.js'
import type { ResourceOptions } from './resource-arguments.js'
import { type RuleWords, ruleWords } from './rules-text.js'
import { messageOf } from '../../../protocol/message-of.js'

/** One kind: what there is, and how it is printed. */
interface Resource {
  readonly name: string
  /** The JSON of it. */
  readonly record: unknown
  /** What stands beside its name in a list. */
  readonly line: string
  text(): string
}

/** Prints one line for each, or all of one; answers 0. Throws `resource.not_found` for one there is not. */
export async function showResources(options: ResourceOptions): Promise<number> {
  const { kind, shown, json } = options
  const connection = await connect(options.server)
  try {
    const query = { directory: directoryOn(options.server, options.directory) }
    const all = await READ[kind](connection.client, query, options.server === undefined)
    if (shown !== undefined) {
      const found = all.find(({ name }) => name === shown) ?? unknown(kind, shown, all)
      writeOut(json ? `${jsonText(found.record, 2)}\n` : found.text())
    } else if (json) {
      const records = all.map(({ record }) => record)
      writeOut(`${jsonText(records, 2)}\n`)
    } else if (all.length === 0) writeOut(`no ${kind}s; svc help ${kind} tells where they come from\n`)
    else writeOut(kind === 'agent' ? all.map(({ name, line }) => `${printable(name)} ${line}`).join('\n') : columns(all.map(lineOf)))
    if (kind === 'agent' && !json) writeOut(await rememberedText(connection.client, query))
    return 0
  } finally {
    await connection.close()
  }
}

const READ = {
  agent: async (client: Client, query: { directory: string }) =>
    (await client.agents.list(query)).filter(({ hidden }) => !hidden).map(agentOf),
  command: async (client: Client, query: { directory: string }) => (await client.commands.list(query)).map(commandOf),
  skill: async (client: Client, query: { directory: string }, isLocal: boolean) =>
    (await client.skills.list(query)).map((skill) => skillOf(skill, isLocal)),
  tool: async (client: Client, query: { directory: string }) => (await client.tools.list(query)).map(toolOf),
} satisfies Record<ResourceOptions['kind'], unknown>

const SHOWN_ANSWERS = 5

/** What is asked no more, whichever agent it is; nothing where the server does not tell. */
async function rememberedText({ interactions }: Client, query: { readonly directory: string }): Promise<string> {
  const answers = await interactions.remembered.list(query).catch(() => [])
  if (answers.length === 0) return ''
  const shown = answers.slice(-SHOWN_ANSWERS).map(({ permission, pattern }) => escapedText(`${permission} ${pattern}`))
  const more = answers.length > shown.length ? `, and ${answers.length - shown.length} more` : ''
  return `\nremembered here, and asked no more: ${shown.join(', ')}${more} (svc permissions)\n`
}

function unknown(kind: string, name: string, all: readonly Resource[]): never {
  const names = all.map((each) => each.name)
  const instead = meant(name, names) || (names.length === 0 ? '' : `; there are ${names.join(', ')}`)
  throw new SvcError('resource.not_found', `there is no ${kind} "${name}"${instead}`)
}

function lineOf({ name, line: text }: Resource): string[] {
  const width = Math.max(20, screenWidth() - 20)
  return [name, text.length > width ? cut(text, width - 1) : text].map(printable)
}

function agentOf(agent: Agent): Resource {
  const { name, mode, description = '', model, permission } = agent
  const rules = ruleWords(permission)
  const head = `(${mode}${model === undefined ? '' : `, ${model.providerId}/${model.id}`})${description === '' ? '' : `: ${description}`}`
  const line = [head, ...ruleLines(rules)].map((text) => `${printable(text)}\n`).join('')
  const text = () => `${printable(name)} ${line}${agent.prompt === undefined ? '' : `\n${agent.prompt}\n`}`
  return { name, record: { ...agent, rules }, line, text }
}

function ruleLines({ unasked, asks, denied }: RuleWords): string[] {
  const line = (label: string, words: readonly string[]) => (words.length === 0 ? [] : [`  ${label.padEnd(8)} ${words.join(', ')}`])
  return [...line('unasked', unasked), ...line('asks', asks), ...line('denied', denied)]
}

function commandOf(command: Command): Resource {
  const { name, description = '', template = '', agent, model } = command
  const text = () =>
    [`/${name}${description === '' ? '' : `: ${description}`}`, ...fact('agent', agent), ...fact('model', model), '', template]
      .map((line) => `${line}\n`)
      .join('')
  return { name, record: command, line: description, text }
}

function skillOf(skill: Skill, isLocal: boolean): Resource {
  const { name, path } = skill
  const description = skill.description ?? ''
  const text = () =>
    [`${name}: ${description}`, ...fact('file', path), '', isLocal && path !== undefined ? contentOf(path) : '']
      .map((line) => `${line}\n`)
      .join('')
  return { name, record: skill, line: description, text }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return messageOf(error)
  }
}

function toolOf(tool: Tool): Resource {
  const { id, description, parameters } = tool
  return {
    name: id,
    record: tool,
    line: description.split('\n')[0] ?? '',
    text: () => `${id}\n\n${description}\n\n${jsonText(parameters, 2)}\n`,
  }
}

function fact(label: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${label}: ${value}`]
}
