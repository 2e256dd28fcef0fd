/** `host.process.spawn` and `host.process.cancel` (capability `process-spawn`): programs that the host runs for a plugin. */
import * as z from 'zod'
import { LIMITS } from '../../limits.js'
import { describeOperation } from './operation.js'
import { FOREIGN_SESSION, NOT_OPEN, opaqueId, sessionId, waitMs } from './served.js'

const limits = LIMITS.pluginProcesses
const withoutNul = (text: string) => !text.includes('\0')
const word = z.string().max(limits.argumentBytes).refine(withoutNul, 'contains a NUL character')

/** How a program is by now. */
const standing = {
  ended: z.boolean(),
  /** Once it has ended; null where a signal has ended it. */
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** Why the host has ended it: its time was over, or the plugin wanted it to end. */
  stopped: z.enum(['time', 'asked']).nullable(),
}

export const processOperations = {
  spawn: describeOperation({
    summary: 'Starts a program in a process group of its own.',
    input: z.strictObject({
      /** A name that the search path of the host has, or an absolute path outside of the workspace; then its arguments. */
      command: z.array(word).min(1).max(limits.arguments),
      /** A directory of the workspace, relative to it. */
      cwd: z.string().max(4096).refine(withoutNul, 'contains a NUL character').default('.'),
      /** Beside the clean environment that every program gets; nothing that decides what programs run or trust. */
      env: z.record(z.string().max(256), z.string().max(limits.argumentBytes)).default({}),
      /** Its input stays open for `write`; otherwise it has none. */
      stdin: z.boolean().default(false),
      /** Milliseconds after which it is ended. */
      timeoutMs: z.int().min(1000).max(limits.timeMost).default(limits.time),
      /** Bytes of the latest output that are kept. */
      outputBytes: z.int().min(1024).max(limits.outputBytes).default(limits.outputBytes),
      sessionId,
    }),
    output: z.strictObject({
      opaqueId,
      /** Where the program was found. */
      program: z.string(),
      /** It runs in the sandbox, as commands of agents do. */
      sandboxed: z.boolean(),
    }),
    waits: true,
    refusals: [
      'there is no workspace: the plugin has none of its own, and serves no session that has one',
      'the program is not found, or is found in the workspace',
      'a rule of the agent denies the same line to its shell; where no agent runs, of the default agent',
      'the directory is not there or leads out of the workspace',
      'a variable decides what programs run or trust',
      'the sandbox is switched on and cannot be had',
      'as many as may run at a time are running',
      FOREIGN_SESSION,
    ],
  }),
  read: describeOperation({
    summary: 'Answers what was written since a place in the output, in the order of arrival.',
    input: z.strictObject({
      opaqueId,
      /** `cursor` of the last answer; 0 = from the beginning, or what is kept of it. */
      cursor: z.int().min(0).default(0),
      maxBytes: z.int().min(1024).max(limits.readBytes).default(limits.readBytes),
      /** How long it waits for more output or the end, when there is none. */
      waitMs: waitMs(limits.wait),
    }),
    output: z.strictObject({
      output: z.array(z.strictObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() })),
      /** Where the next answer goes on. */
      cursor: z.int(),
      /** Bytes before this that are not kept any more. */
      skipped: z.int(),
      /** There is more already. */
      more: z.boolean(),
      ...standing,
    }),
    waits: true,
    refusals: [NOT_OPEN],
  }),
  write: describeOperation({
    summary: 'Writes to the input of a program.',
    input: z.strictObject({
      opaqueId,
      text: z.string().max(limits.inputBytes).default(''),
      /** Its input is closed afterwards. */
      end: z.boolean().default(false),
    }),
    output: z.strictObject({
      /** Bytes that it has not read yet. */
      waiting: z.int(),
    }),
    refusals: [NOT_OPEN, 'its input is closed, or the program has ended', 'it does not read what was written before'],
  }),
  wait: describeOperation({
    summary: 'Answers when a program has ended, or when the time is over.',
    input: z.strictObject({ opaqueId, waitMs: waitMs(limits.wait) }),
    output: z.strictObject(standing),
    waits: true,
    refusals: [NOT_OPEN],
  }),
  signal: describeOperation({
    summary: 'Sends a signal to the process group of a program.',
    input: z.strictObject({ opaqueId, signal: z.enum(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGKILL']) }),
    output: z.strictObject({
      /** False = it has ended. */
      sent: z.boolean(),
    }),
    refusals: [NOT_OPEN],
  }),
  list: describeOperation({
    summary: 'Lists the programs of this instance that run, or can still be read.',
    input: z.strictObject({}).nullish(),
    output: z.strictObject({
      processes: z.array(z.strictObject({ opaqueId, command: z.array(z.string()), startedAt: z.int(), ...standing })),
    }),
    refusals: [],
  }),
  close: describeOperation({
    summary: 'Ends a program that runs, and forgets it. `host.process.cancel` does the same.',
    input: z.strictObject({ opaqueId }),
    output: z.strictObject({
      /** Whether it was known. */
      closed: z.boolean(),
    }),
    waits: true,
    refusals: [],
  }),
}
