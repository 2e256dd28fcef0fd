/** Formatters as people see them, and the acts that let one run code of a workspace (choice 34). */
import type { NativeHost, NativePlugin } from '../../../ports/plugin.js'
import { AcceptRequest } from '../../../protocol/acceptance/acceptance.js'
import { SvcError } from '../../../protocol/errors.js'
import { FormatterParams, formatterRoutes, type FormatterStatus } from '../../../protocol/format/formatter-routes.js'
import { configuredFormatters, type Formatter } from '../../../protocol/format/formatters.js'
import { formatterProgram } from './formatter-program.js'
import { judgeFormatter } from './guards.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>
type Host = Pick<NativeHost, 'config' | 'installationConfig' | 'programs'> & { readonly effects: Pick<NativeHost['effects'], 'files'> }

export function formatterOperations(host: Host): Operations {
  const { programs, effects } = host
  const all = async (directory: string) => configuredFormatters((await host.config(directory))['formatter'])

  async function statusOf(formatter: Formatter, directory: string): Promise<FormatterStatus> {
    const { id, command, extensions, fault } = formatter
    const shown = { id, command: [...command], extensions: [...extensions] }
    if (fault !== undefined) return { ...shown, wanted: false, problem: `it ${fault}`, acceptance: null }
    const verdict = await judgeFormatter(formatter, `${directory}/file`, effects.files)
    const acceptance = await programs.standing(await formatterProgram(host, formatter, directory, verdict))
    const problem = verdict.type === 'refused' ? verdict.reason : null
    return { ...shown, wanted: verdict.type !== 'unwanted', problem, acceptance }
  }

  return {
    [formatterRoutes.list.id]: async ({ directory }) => Promise.all((await all(directory)).map(async (each) => statusOf(each, directory))),
    async [formatterRoutes.accept.id]({ directory, params, body }) {
      const { formatter: id } = FormatterParams.parse(params)
      const formatter = (await all(directory)).find((each) => each.id === id)
      if (formatter === undefined) throw new SvcError('resource.not_found', `There is no formatter "${id}" that is switched on.`, { id })
      if (formatter.fault !== undefined)
        throw new SvcError('request.unprocessable', `The formatter "${id}" cannot be used: it ${formatter.fault}.`, { id })
      const program = await formatterProgram(host, formatter, directory, { type: 'refused' })
      return programs.accept(program, AcceptRequest.parse(body ?? {}))
    },
    async [formatterRoutes.takeBack.id]({ directory, params }) {
      const { formatter: name } = FormatterParams.parse(params)
      return { removed: programs.takeBack({ kind: 'formatter', name, directory }) }
    },
  }
}
