/** What models are told of commands in the background. Never their process ids: such text crosses the wire (service.md, Resources). */
import { LIMITS } from '../../../protocol/limits.js'
import type { Job } from './ledger.js'

const WORDS: Readonly<Record<Job['status'], string>> = {
  queued: 'waits until fewer commands run on this server',
  running: 'runs',
  completed: 'has ended',
  error: 'has failed',
  timed_out: 'was stopped because it took too long',
  cancelled: 'was stopped by the user',
  interrupted: 'was ended because the server stopped; it was not started again',
}

/** What the runtime tells a session of a command that has ended. */
export function noticeOf(job: Job): string {
  return `A command you started in the background ${WORDS[job.status]}.\n\n${reportOf(job)}`
}

/** All about a command; `live` is the output of one that runs. */
export function reportOf(job: Job, live?: string): string {
  const { id, description, status, exitCode, signal, cwd, command, error, outputPath } = job
  const facts = [
    `job_id: ${id}`,
    `description: ${description}`,
    `status: ${status}`,
    ...(exitCode === undefined || exitCode === null ? [] : [`exit_code: ${exitCode}`]),
    ...(signal === undefined ? [] : [`signal: ${signal}`]),
    `cwd: ${cwd}`,
    `command: ${command}`,
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(outputPath === undefined ? [] : [`whole_output: ${outputPath} (use "read" with an offset, or "grep", on that file)`]),
  ]
  const output = live ?? job.output ?? ''
  const cut = job.outputTruncated === true ? '(the beginning was dropped)\n' : ''
  const tag = status === 'completed' || live !== undefined ? 'background_task_result' : 'background_task_error'
  return `${facts.join('\n')}\n<${tag}>\n${cut}${output || '(no output)'}\n</${tag}>`
}

/** One line of a list. */
export function lineOf({ id, status, exitCode, description }: Job): string {
  const code = exitCode === undefined || exitCode === null ? '' : ` (exit code ${exitCode})`
  return `${id} ${status}${code} ${description}`
}

/** The end of an output as it is told, since errors stand last. */
export function toldPart(text: string): string {
  if (text.length <= LIMITS.jobs.told) return text
  return text.slice(-LIMITS.jobs.told).replace(/^[\udc00-\udfff]/, '')
}
