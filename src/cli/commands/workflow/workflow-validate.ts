/** `svc workflow validate`: every mistake of files and directories, without a server. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createCheckouts } from '../../../platform/git/origin.js'
import { nodePaths } from '../../../platform/node/paths.js'
import { createNodeFiles } from '../../../platform/node/files/node-files.js'
import type { ValidateOptions } from './workflow-arguments.js'
import { type CheckedFile, checkFile, diagnosticText, type FileDiagnostic, filesAt, FOLDERS } from './workflow-files.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'

/** Says of every file whether it is right, and whether it has to be accepted; answers 1 when one is not right. */
export async function validateWorkflows({ paths, directory, json }: ValidateOptions): Promise<number> {
  const workspace = resolve(directory ?? '.')
  const places = paths.length > 0 ? paths : FOLDERS.map((folder) => join(workspace, '.svc', folder)).filter((place) => existsSync(place))
  const { home } = nodePaths(process.env)
  const checked = [...new Set(places.flatMap(filesAt))].map((file) => checkFile(file, home))
  const diagnostics = [...checked.flatMap((each) => each.diagnostics), ...repeatedIds(checked)]
  const unaccepted = await ofCheckouts(checked.flatMap(({ file, definition }) => (definition === undefined ? [] : [file])))
  for (const diagnostic of [...diagnostics, ...unaccepted]) writeError(diagnosticText(diagnostic))
  const right = checked.flatMap(({ file, definition }) => (definition === undefined ? [] : [{ file, id: definition.id }]))
  if (json) writeOut(`${jsonText({ valid: right, diagnostics: [...diagnostics, ...unaccepted] }, 2)}\n`)
  else if (checked.length === 0) writeOut('no workflow files; write one with: svc workflow new daily-report\n')
  else writeOut(right.map(({ file, id }) => `ok  ${file} (${id})\n`).join(''))
  return diagnostics.length === 0 ? 0 : 1
}

/** What was accepted is known to a server alone; here it is said of every file that came with a checkout. */
async function ofCheckouts(names: readonly string[]): Promise<readonly FileDiagnostic[]> {
  const checkouts = createCheckouts({ files: createNodeFiles(), paths: nodePaths(process.env) })
  const origins = await checkouts.origins(names.map((name) => ({ path: realpathSync(name), bytes: readFileSync(name) })))
  return names.flatMap((file, index) => {
    const origin = origins[index]
    if (origin === undefined || origin.from === 'elsewhere') return []
    return [{ file, message: `runs only where this content was accepted: ${origin.reason}`, code: 'acceptance-required' }]
  })
}

/** Of two files with one id the later one counts, which is hardly meant. */
function repeatedIds(checked: readonly CheckedFile[]): FileDiagnostic[] {
  const first = new Map<string, string>()
  return checked.flatMap(({ file, definition }) => {
    if (definition === undefined) return []
    const other = first.get(definition.id)
    if (other === undefined) first.set(definition.id, file)
    return other === undefined ? [] : [{ file, message: `id "${definition.id}" is the id of ${other} too` }]
  })
}
