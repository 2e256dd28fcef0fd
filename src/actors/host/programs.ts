/**
 * The one door to programs that load code of a workspace: language servers, formatters, what they ask build tools, MCP servers, external
 * agents (choice 34; threat-model W2, C5, C7).
 *
 * I1 Nothing starts that does not stand at this very moment: in the sandbox, by the configuration of the installation, or by an act.
 * I2 An act is a row for one program of one workspace, pinned to what was seen: another command, or another word of it, is not accepted.
 * I3 A rule of the run that denies the line in the shell tool holds whatever was accepted, and in the sandbox, too.
 * I4 A program that the search path finds in the workspace is not there.
 */
import { join } from 'node:path'
import { isDenied, lineNames, lineText, mayStart, stateOf } from '../../machines/acceptance/standing.js'
import { ProgramAcceptance, type ProgramStanding } from '../../protocol/acceptance/acceptance.js'
import { SvcError } from '../../protocol/errors.js'
import type { Effects, SpawnOptions } from '../../ports/effects.js'
import type { CommandSandbox, PluginRows } from '../../ports/doors.js'
import type { ProgramDoor, ProjectProgram } from '../../ports/programs.js'
import { foundProgram } from './found-program.js'

export interface ProgramDoorDeps {
  readonly effects: Pick<Effects, 'processes' | 'sha256' | 'clock'> & { readonly files: Pick<Effects['files'], 'realPath'> }
  readonly rows: PluginRows
  readonly sandbox: Pick<CommandSandbox, 'isOn' | 'whyMissing' | 'wrap'>
}

const ACCEPTANCE = 'acceptance'

export function createProgramDoor({ effects, rows, sandbox }: ProgramDoorDeps): ProgramDoor {
  const { processes, clock, sha256 } = effects

  const revisionOf = ({ kind, commands, more = null }: ProjectProgram) => `sha256:${sha256(JSON.stringify([kind, commands, more]))}`
  const rowId = ({ kind, name, directory }: Pick<ProjectProgram, 'kind' | 'name' | 'directory'>) =>
    sha256([kind, directory, name].join('\0'))

  function isAccepted(program: ProjectProgram): boolean {
    const row = rows.get(ACCEPTANCE, rowId(program))
    return row !== undefined && ProgramAcceptance.safeParse(row.data).data?.revision === revisionOf(program) // I2
  }

  async function standing(program: ProjectProgram): Promise<ProgramStanding> {
    const { kind, isNamed, commands, also = [] } = program
    const confinement = await sandboxOf(sandbox, program)
    const state = stateOf({ kind, isNamed, isAccepted: isAccepted(program), sandbox: confinement.on })
    return {
      state,
      revision: revisionOf(program),
      commands: commands.map((words) => [...words]),
      also: [...also],
      message: mayStart(state) ? null : refusal(program, state === 'unavailable' ? confinement : undefined),
    }
  }

  const find = async (name: string, directory: string) => foundProgram(effects, name, directory) // I4

  async function isLineDenied(program: ProjectProgram, words: readonly string[], run: Parameters<ProgramDoor['isDenied']>[1]) {
    const path = await find(words[0] ?? '', program.directory)
    return isDenied(run.decisions('bash', lineNames(words, path)))
  }

  async function lineOf(
    { program, words, run, directories = [], writes = [], reads = [], network = false }: Parameters<ProgramDoor['open']>[0],
    { cwd, env }: Place,
  ): Promise<Pick<SpawnOptions, 'command' | 'args' | 'holds'>> {
    const { message, state } = await standing(program)
    if (message !== null) throw new SvcError('request.unprocessable', message) // I1
    if (run !== undefined && (await isLineDenied(program, words, run)))
      throw new SvcError('request.unprocessable', `A permission rule of this agent denies "${lineText(words)}".`) // I3
    const [name = '', ...args] = words
    const isPath = name.includes('/') && !name.startsWith('/')
    const path = isPath ? join(cwd, name) : await find(name, program.directory)
    if (path === undefined) throw new SvcError('request.unprocessable', `The program "${name}" was not found.`)
    if (program.kind === 'mcp-server' && state === 'named') return { command: path, args }
    if ((await sandboxOf(sandbox, program)).on === 'off') return { command: path, args }
    const wrapped = await sandbox.wrap({
      program: path,
      args,
      cwd,
      workspace: program.directory,
      network,
      searchPath: env['PATH'] ?? '',
      directories,
      own: directories,
      reads,
      writes,
    })
    if ('unavailable' in wrapped) throw new SvcError('request.unprocessable', `There is no sandbox: ${wrapped.unavailable}`)
    return { command: wrapped.program, args: wrapped.args, holds: wrapped.holds ?? [] }
  }

  return {
    standing,
    async isDenied(program, run) {
      for (const words of program.commands) if (await isLineDenied(program, words, run)) return true
      return false
    },
    find,
    open: async (start, options) => processes.open({ ...options, ...(await lineOf(start, options)) }),
    run: async (start, options) => processes.run({ ...options, ...(await lineOf(start, options)) }),
    accept(program, { revision: seen, along } = {}) {
      const { name, directory, commands } = program
      const revision = revisionOf(program)
      if (seen !== undefined && seen !== revision)
        throw new SvcError('management.revision_conflict', `"${name}" is another one by now: look at it again.`, { name, revision })
      const acceptedAt = clock.now()
      const acceptance = { name, directory, revision, commands: commands.map((words) => [...words]), acceptedAt }
      rows.commit('power', (tx) => {
        tx.put(ACCEPTANCE, { id: rowId(program), group: directory, sort: acceptedAt, data: acceptance })
        along?.(tx)
      })
      return acceptance
    },
    takeBack(program, along) {
      const id = rowId(program)
      if (rows.get(ACCEPTANCE, id) === undefined) return false
      rows.commit('power', (tx) => {
        tx.delete(ACCEPTANCE, id)
        along?.(tx)
      })
      return true
    },
    accepted: (directory) =>
      rows.list(ACCEPTANCE, { group: directory }).flatMap(({ data }) => ProgramAcceptance.safeParse(data).data ?? []),
  }
}

interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

interface Confinement {
  readonly on: 'off' | 'on' | 'missing'
  readonly why?: string
}

async function sandboxOf(sandbox: ProgramDoorDeps['sandbox'], { directory, isRemote }: ProjectProgram): Promise<Confinement> {
  if (isRemote === true || !(await sandbox.isOn(directory))) return { on: 'off' }
  const why = await sandbox.whyMissing()
  return why === undefined ? { on: 'on' } : { on: 'missing', why }
}

/** Why a program does not start; `missing`: the sandbox it would need. */
function refusal({ commands, advice }: ProjectProgram, missing: Confinement | undefined): string {
  const shown = commands.map(lineText).join('; ')
  return missing === undefined
    ? `"${shown}" loads code of this workspace, and nobody has accepted that: ${advice}`
    : `"${shown}" does not start: the sandbox is switched on (permission.sandbox) and cannot be had: ${missing.why ?? ''}`
}
