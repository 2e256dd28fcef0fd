/** `svc workflow validate`: every mistake of files and directories, without a server. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nodePaths } from '../actors/node-effects.js'
import type { ValidateOptions } from './workflow-arguments.js'
import { type CheckedFile, checkFile, diagnosticText, type FileDiagnostic, filesAt, FOLDERS } from './workflow-files.js'

/** Says of every file whether it is right; answers 1 when one is not. */
export function validateWorkflows({ paths, directory, json }: ValidateOptions): number {
  const workspace = resolve(directory ?? '.')
  const places = paths.length > 0 ? paths : FOLDERS.map((folder) => join(workspace, '.svc', folder)).filter((place) => existsSync(place))
  const { home } = nodePaths(process.env)
  const checked = [...new Set(places.flatMap(filesAt))].map((file) => checkFile(file, home))
  const diagnostics = [...checked.flatMap((each) => each.diagnostics), ...repeatedIds(checked)]
  for (const diagnostic of diagnostics) process.stderr.write(diagnosticText(diagnostic))
  const right = checked.flatMap(({ file, definition }) => (definition === undefined ? [] : [{ file, id: definition.id }]))
  if (json) process.stdout.write(`${JSON.stringify({ valid: right, diagnostics }, null, 2)}\n`)
  else if (checked.length === 0) process.stdout.write('no workflow files; write one with: svc workflow new daily-report\n')
  else process.stdout.write(right.map(({ file, id }) => `ok  ${file} (${id})\n`).join(''))
  return diagnostics.length === 0 ? 0 : 1
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
