/** `svc config`: the files are read and written here, and judged by a server; one that runs takes what changed by itself. */
import { reviewApprovals } from '../../../actors/plugin/entry/trust-review.js'
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import { createConfigs } from '../../../actors/resource/facade/config.js'
import { publishedConfigSchema } from '../../../actors/resource/config/config-reference.js'
import { writableFile } from '../../../actors/resource/snapshot/config-write.js'
import { SvcError } from '../../../protocol/errors.js'
import { BROKERED } from '../../../protocol/plugin/broker-operations.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { ConfigDiagnostic, ConfigValidation } from '../../../protocol/resource/config.js'
import { connect } from '../../connection.js'
import { existingDirectory } from '../../directory.js'
import { failureText } from '../../failure.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { ConfigOptions, GetOptions, SetOptions } from './config-arguments.js'
import { stepsOf } from './key-steps.js'
import { meantValue, refuseUnknown } from './typed-key.js'

/** Runs one action; answers the exit code: 0 done, 1 refused or something is wrong. */
export async function config(options: ConfigOptions): Promise<number> {
  switch (options.action) {
    case 'schema':
      writeOut(`${jsonText(publishedConfigSchema(), 2)}\n`)
      return 0
    case 'get':
      return get(options)
    case 'set':
      return set(options)
    case 'path':
      return path(options)
    case 'validate':
      return validate(options)
  }
}

function open(directory: string | undefined) {
  const effects = createNodeEffects(process.env['SVC_LOG'] === undefined ? { logLevel: 'error' } : {})
  const configs = createConfigs({ effects, review: (before, after) => reviewApprovals(before, after, BROKERED) })
  return { effects, configs, workspace: existingDirectory(directory) }
}

async function get({ key, directory }: GetOptions): Promise<number> {
  const { configs, workspace } = open(directory)
  let value: unknown = await configs.show(workspace)
  for (const step of key === undefined ? [] : stepsOf(key)) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined
  if (value === undefined) throw new SvcError('resource.not_found', `nothing sets ${key ?? ''}`)
  writeOut(`${jsonText(value, 2)}\n`)
  return 0
}

async function set({ key, value: typed, directory, global, force, json }: SetOptions): Promise<number> {
  const steps = stepsOf(key)
  const value = meantValue(typed)
  if (value !== null && !force) refuseUnknown(steps, 'Nothing was written; --force writes it all the same')
  const { effects, configs, workspace } = open(directory)
  if (global) await effects.files.makeDirectory(effects.paths.config, { mode: 0o700 })
  const at = global ? await effects.files.realPath(effects.paths.config) : workspace
  const patch = steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)
  const shown = await configs.update(at, isRecord(patch) ? patch : {})
  const { diagnostics } = await configs.validate(at)
  const named = steps.join('.')
  for (const each of diagnostics) if (`${named}.`.startsWith(`${each.path}.`)) writeError(`svc: ${each.path}: ${placed(each)}\n`)
  writeOut(json ? `${jsonText(shown, 2)}\n` : `wrote ${await writableFile(effects, at)}\n`)
  return 0
}

async function path({ directory, json }: { readonly directory: string | undefined; readonly json: boolean }): Promise<number> {
  const { effects, configs, workspace } = open(directory)
  const { layers } = await configs.snapshots.inspect(workspace)
  const read = [...layers.keys()]
  const written = await writableFile(effects, workspace)
  if (json) writeOut(`${jsonText({ read, written }, 2)}\n`)
  else writeOut([...read.map((file) => `read   ${file}\n`), `write  ${written}\n`].join(''))
  return 0
}

async function validate({ directory, json }: { readonly directory: string | undefined; readonly json: boolean }): Promise<number> {
  const found = await judge(directory)
  if (json) writeOut(`${jsonText(found, 2)}\n`)
  else if (found.diagnostics.length === 0) writeOut('nothing is wrong\n')
  else for (const each of found.diagnostics) writeError(`${each.level} ${each.path}: ${placed(each)}\n`)
  return found.ok ? 0 : 1
}

/** By the server that runs, or one of our own: only there it is known which models, tools and plugins there are. Where none starts, the files alone are judged. */
async function judge(directory: string | undefined): Promise<ConfigValidation> {
  const { configs, workspace } = open(directory)
  try {
    const connection = await connect(undefined)
    try {
      return await connection.client.config.validate({ directory: workspace })
    } finally {
      await connection.close()
    }
  } catch (error) {
    const { ok, diagnostics } = await configs.validate(workspace)
    const message = `whether the models, tools and plugins that are named exist was not looked at, because no server answers: ${failureText(error).split('\n')[0] ?? ''}`
    return { ok, diagnostics: [...diagnostics, { level: 'warning', path: 'config', message }] }
  }
}

/** The message after the place it is about, unless it begins with it. */
function placed({ message, file, line, column }: ConfigDiagnostic): string {
  return file === undefined || line === undefined || message.includes(file) ? message : `${file}:${line}:${column ?? 1}: ${message}`
}
