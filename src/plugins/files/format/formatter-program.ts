/** A formatter, as the door to programs of workspaces knows it (choice 34). */
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import type { Formatter } from '../../../protocol/format/formatters.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { Verdict } from './guards.js'

/** The installation stands for those it switches on, as long as they run no code of the project. */
export async function formatterProgram(
  { installationConfig }: Pick<NativeHost, 'installationConfig'>,
  { id, command, environment }: Formatter,
  directory: string,
  verdict: Pick<Verdict, 'type'>,
): Promise<ProjectProgram> {
  const switched = (await installationConfig())['formatter']
  const isOn = switched === true || isRecord(switched)
  return {
    kind: 'formatter',
    name: id,
    directory,
    commands: [command],
    more: environment,
    isNamed: isOn && verdict.type !== 'refused',
    advice: `accept it with "svc formatter accept ${id}", or write its command in the configuration of the installation`,
  }
}
