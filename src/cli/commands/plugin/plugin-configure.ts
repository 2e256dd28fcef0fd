/**
 * `svc plugin configure`: what a package needs from its user, its secrets and its settings.
 *
 * I1 A secret is typed without being shown, or read from standard input; it is in no argument, no variable and no answer.
 */
import { createDeclaredSecrets } from '../../../actors/plugin/brokers/secrets/declared-secrets.js'
import { createSecretFile } from '../../../actors/plugin/brokers/secrets/secret-file.js'
import { settingsIssue } from '../../../actors/plugin/process/settings-issue.js'
import { SvcError } from '../../../protocol/errors.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { askPerson, askSecret, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { ConfigureOptions } from './plugin-arguments.js'
import { hostNeed } from './plugin-needs.js'
import { omit } from '../../../actors/resource/config/config-merge.js'
import { openPluginPlace, type PluginPlace, type ReadPackage, readPackage } from './plugin-place.js'
import { choosePackage } from './plugin-trust.js'
import { columns } from './plugin-words.js'

/** Answers 0 when nothing that it needs is missing, 1 when something is, 130 when it was interrupted. */
export async function configurePlugin(options: ConfigureOptions): Promise<number> {
  const place = await openPluginPlace(options.directory)
  const read = await readPackage(place, choosePackage(place, options))
  const { signal, forget } = watchInterrupts(() => undefined)
  try {
    return await configure(place, read, options, signal)
  } catch (error) {
    if (signal.aborted) return 130
    throw error
  } finally {
    forget()
  }
}

async function configure(place: PluginPlace, read: ReadPackage, options: ConfigureOptions, signal: AbortSignal): Promise<number> {
  const { id } = read.found
  const declared = read.target.secrets ?? []
  const secrets = createDeclaredSecrets(createSecretFile(place.effects), () => place.effects.clock.now())
  const { set, unset } = options
  if (set !== undefined) {
    const value = await askSecret(`${set} of ${id} (it is not shown): `, signal)
    if (value === '') throw new SvcError('request.invalid', 'there was no secret; nothing was stored')
    await secrets.give(id, declared, { alias: set, value })
  } else if (unset !== undefined) {
    await secrets.take(id, unset)
  } else if (isAttended()) {
    for (const { alias, purpose, hosts, isSet, isOutdated } of await secrets.list(id, declared)) {
      if (isSet && !isOutdated) continue
      const sent = hosts.length === 0 ? '' : `, sent to ${hosts.join(', ')}`
      const value = await askSecret(printable(`${alias}: ${purpose}${sent} (it is not shown; empty leaves it): `), signal)
      if (value !== '') await secrets.give(id, declared, { alias, value })
    }
    await askSettings(place, read, signal)
  }
  const left = (await secrets.list(id, declared)).map((secret) => ({ ...secret, isTaken: secret.alias === unset }))
  return tell(place, read, left, options.json)
}

/** Required settings that are not there, one question each. */
async function askSettings(place: PluginPlace, read: ReadPackage, signal: AbortSignal): Promise<void> {
  const { id } = read.found
  const { settings } = read.target
  const entries = place.entries.package(id)
  const config = isRecord(entries.config) ? entries.config : {}
  const patch: Record<string, unknown> = {}
  for (const [name, schema] of missingSettings(settings, config)) {
    const about = isRecord(schema) && typeof schema['description'] === 'string' ? `: ${schema['description']}` : ''
    const typed = await askPerson(printable(`${name}${about} (empty leaves it): `), signal)
    if (typed !== '') patch[name] = asSetting(schema, typed)
  }
  if (Object.keys(patch).length === 0) return
  const issue = settingsIssue(settings, { ...config, ...patch })
  if (issue !== undefined)
    throw new SvcError('request.unprocessable', `these settings cannot be used: ${issue}; nothing of them was stored`)
  await place.configure({ plugins: { [id]: { options: { config: patch } } } })
}

function missingSettings(settings: JsonRecord | undefined, config: JsonRecord): [name: string, schema: unknown][] {
  const required = Array.isArray(settings?.['required']) ? settings['required'] : []
  const properties = isRecord(settings?.['properties']) ? settings['properties'] : {}
  return required.flatMap((name: unknown) => (typeof name !== 'string' || Object.hasOwn(config, name) ? [] : [[name, properties[name]]]))
}

/** A text stays one where the schema wants one; everything else is JSON where it can be. */
function asSetting(schema: unknown, typed: string): unknown {
  if (isRecord(schema) && schema['type'] === 'string') return typed
  try {
    return JSON.parse(typed)
  } catch {
    return typed
  }
}

async function tell(
  place: PluginPlace,
  read: ReadPackage,
  secrets: readonly {
    readonly alias: string
    readonly purpose: string
    readonly isSet: boolean
    readonly isOutdated: boolean
    /** It was just taken back, so that it is missing is what was asked for. */
    readonly isTaken: boolean
  }[],
  json: boolean,
): Promise<number> {
  const { id } = read.found
  // What was just written counts.
  const { entries } = await openPluginPlace(place.workspace)
  const { config, hosts = [] } = entries.package(id)
  const problem = settingsIssue(read.target.settings, config)
  const unlisted = hostNeed(id, read.target, hosts)
  const missing = secrets.filter(({ isSet, isOutdated, isTaken }) => !isTaken && (!isSet || isOutdated))
  const state = ({ isSet, isOutdated, isTaken }: { isSet: boolean; isOutdated: boolean; isTaken: boolean }) =>
    isTaken ? 'taken back' : isOutdated ? 'given for other hosts; give it again' : isSet ? 'set' : 'missing'
  if (json)
    writeOut(
      `${jsonText({ id, secrets: secrets.map((secret) => omit(secret, ['isTaken'])), ...(problem !== undefined && { problem }) }, 2)}\n`,
    )
  else {
    const rows = secrets.map((secret) => [secret.alias, state(secret), secret.purpose].map(printable))
    writeOut(rows.length === 0 ? `${id} declares no secrets\n` : columns(rows))
    for (const { alias } of missing) writeError(`svc: ${printable(alias)} -> svc plugin configure ${id} --set ${printable(alias)} < file\n`)
    if (problem !== undefined)
      writeError(`svc: the settings of ${id}: ${printable(advised(problem, id, read.target.settings, config))}\n`, 'red')
    if (unlisted !== undefined) writeError(`svc: it still needs ${printable(`${unlisted.what} -> ${unlisted.remedy}`)}\n`)
  }
  return problem === undefined && missing.length === 0 ? 0 : 1
}

/** With what to type for each setting that is not there. */
function advised(problem: string, id: string, settings: JsonRecord | undefined, config: unknown): string {
  const names = missingSettings(settings, isRecord(config) ? config : {}).map(([name]) => name)
  return [problem, ...names.map((name) => `svc config set --global plugins.${id}.options.config.${name} <value>`)].join(' -> ')
}
