/** Messages, parts and prompt submission (http-contract §2.6–2.7, §4.2–4.3; sessions-events §3–5). */
import * as z from 'zod'
import { HookFailure } from '../plugin/hook-failure.js'
import { alsoSpelled } from '../text/leniency.js'
import { LIMITS } from '../limits.js'
import { ClientMessageId, ms, uint } from '../shared.js'
import { TokenUsage } from './token-usage.js'

export const ModelRef = alsoSpelled(
  z
    .strictObject({ id: z.string(), providerId: z.string(), connectionId: z.string().optional(), variant: z.string().optional() })
    .meta({ id: 'ModelRef' }),
  { providerID: 'providerId', modelId: 'id', modelID: 'id' },
)
export type ModelRef = z.infer<typeof ModelRef>

const namedModel = { providerId: z.string(), modelId: z.string(), connectionId: z.string().optional(), variant: z.string().optional() }
const NAMED_MODEL_SPELLINGS = { providerID: 'providerId', modelID: 'modelId' } as const
export const UserModel = alsoSpelled(z.strictObject(namedModel).meta({ id: 'UserModel' }), NAMED_MODEL_SPELLINGS)
const UserModelRef = alsoSpelled(z.strictObject(namedModel).meta({ id: 'UserModelRef' }), NAMED_MODEL_SPELLINGS)
export type UserModel = z.infer<typeof UserModel>

const MODEL_WANTED = 'must be "provider/model", or a record of both'
const ModelName = z
  .string()
  .regex(/^[^/]+\/./, MODEL_WANTED)
  .describe('`provider/model`, as in the configuration.')

/** Messages of the record rather than of the union: what is wrong with a field is said of that field. */
function givenModelError({ input, errors }: { readonly input?: unknown; readonly errors?: z.core.$ZodIssue[][] }): string {
  const [issue] = errors?.[0] ?? []
  if (typeof input !== 'object' || input === null || issue === undefined) return MODEL_WANTED
  return `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message.replace(/^Invalid input: /, '')}`
}

/** The model of a session as requests give it: by its name, too. */
export const GivenModelRef = z
  .union([ModelRef, ModelName], { error: givenModelError })
  .transform((given) => (typeof given === 'string' ? { providerId: providerOf(given), id: modelOf(given) } : given))
  .pipe(ModelRef)

/** The model of a prompt as requests give it: by its name, too. */
export const GivenUserModel = z
  .union([UserModel, ModelName], { error: givenModelError })
  .transform((given) => (typeof given === 'string' ? { providerId: providerOf(given), modelId: modelOf(given) } : given))
  .pipe(UserModel)

const providerOf = (name: string) => name.slice(0, name.indexOf('/'))
const modelOf = (name: string) => name.slice(name.indexOf('/') + 1)

const PartTime = z.looseObject({ start: uint, end: uint.optional() }).meta({ id: 'PartTime' })

const place = { id: z.string(), sessionId: z.string(), messageId: z.string() }

export const TextPart = z
  .looseObject({ ...place, type: z.literal('text'), text: z.string(), synthetic: z.boolean().optional(), time: PartTime.optional() })
  .meta({ id: 'TextPart' })
export type TextPart = z.infer<typeof TextPart>

export const ReasoningPart = z
  .looseObject({ ...place, type: z.literal('reasoning'), text: z.string(), time: PartTime, metadata: z.unknown().optional() })
  .meta({ id: 'ReasoningPart' })
export type ReasoningPart = z.infer<typeof ReasoningPart>

const ToolStatePending = z
  .looseObject({ status: z.literal('pending'), input: z.unknown(), raw: z.string() })
  .meta({ id: 'ToolStatePending' })
const ToolStateRunning = z
  .looseObject({ status: z.literal('running'), input: z.unknown(), time: PartTime })
  .meta({ id: 'ToolStateRunning' })
const ToolStateCompleted = z
  .looseObject({
    status: z.literal('completed'),
    input: z.unknown(),
    output: z.string(),
    metadata: z.unknown(),
    title: z.string(),
    time: PartTime,
  })
  .meta({ id: 'ToolStateCompleted' })
const ToolStateError = z
  .looseObject({ status: z.literal('error'), input: z.unknown(), error: z.string(), time: PartTime })
  .meta({ id: 'ToolStateError' })
export const ToolState = z
  .discriminatedUnion('status', [ToolStatePending, ToolStateRunning, ToolStateCompleted, ToolStateError])
  .meta({ id: 'ToolState' })
export type ToolState = z.infer<typeof ToolState>

export const ToolPart = z
  .looseObject({
    ...place,
    type: z.literal('tool'),
    tool: z.string(),
    callId: z.string(),
    state: ToolState,
    metadata: z.unknown().optional(),
  })
  .meta({ id: 'ToolPart' })
export type ToolPart = z.infer<typeof ToolPart>

export const FilePart = z
  .looseObject({ ...place, type: z.literal('file'), mime: z.string(), url: z.string(), filename: z.string().optional() })
  .meta({ id: 'FilePart' })
export type FilePart = z.infer<typeof FilePart>

const AgentPart = z
  .looseObject({ ...place, type: z.literal('agent'), name: z.string(), source: z.unknown().optional() })
  .meta({ id: 'AgentPart' })

const SubtaskPart = z
  .looseObject({
    ...place,
    type: z.literal('subtask'),
    prompt: z.string(),
    description: z.string(),
    agent: z.string(),
    model: UserModelRef.optional(),
    command: z.string().optional(),
  })
  .meta({ id: 'SubtaskPart' })

const StepStartPart = z
  .looseObject({ ...place, type: z.literal('step-start'), snapshot: z.string().optional() })
  .meta({ id: 'StepStartPart' })

const StepFinishPart = z
  .looseObject({
    ...place,
    type: z.literal('step-finish'),
    reason: z.string(),
    tokens: TokenUsage,
    cost: z.number(),
    snapshot: z.string().optional(),
  })
  .meta({ id: 'StepFinishPart' })

const CompactionPart = z
  .looseObject({
    ...place,
    type: z.literal('compaction'),
    reason: z.string(),
    summary: z.boolean(),
    tailStartMessageId: z.string().optional(),
  })
  .meta({ id: 'CompactionPart' })

/** What holds a part of a kind that is not known (http-contract §2.7). */
export const PartEnvelope = z
  .looseObject({ id: z.string(), kind: z.string(), schemaVersion: z.string(), data: z.unknown() })
  .meta({ id: 'PartEnvelope' })

export const Part = z
  .discriminatedUnion('type', [
    TextPart,
    CompactionPart,
    AgentPart,
    SubtaskPart,
    ReasoningPart,
    ToolPart,
    StepStartPart,
    StepFinishPart,
    FilePart,
  ])
  .meta({ id: 'Part' })
export type Part = z.infer<typeof Part>

const MessageError = z.looseObject({ message: z.string(), interrupted: z.literal(true).optional() })

export const UserInfo = z.looseObject({
  role: z.literal('user'),
  id: z.string(),
  sessionId: z.string(),
  time: z.looseObject({ created: ms }),
  agent: z.string(),
  model: UserModel,
  system: z.string().optional(),
  tools: z.record(z.string(), z.boolean()).optional(),
  author: z.string().optional(),
})
export type UserInfo = z.infer<typeof UserInfo>

export const AssistantInfo = z.looseObject({
  role: z.literal('assistant'),
  id: z.string(),
  sessionId: z.string(),
  time: z.looseObject({ created: ms, streamed: ms.optional(), completed: ms.optional() }),
  parentId: z.string(),
  mode: z.string(),
  agent: z.string(),
  path: z.looseObject({ cwd: z.string(), root: z.string() }),
  cost: z.number(),
  tokens: TokenUsage,
  modelId: z.string(),
  providerId: z.string(),
  finish: z.string().optional(),
  error: MessageError.optional(),
  metadata: z.looseObject({ hookFailures: z.array(HookFailure).optional() }).optional(),
})
export type AssistantInfo = z.infer<typeof AssistantInfo>

export const MessageInfo = z.discriminatedUnion('role', [UserInfo, AssistantInfo]).meta({ id: 'MessageInfo' })
export type MessageInfo = z.infer<typeof MessageInfo>

export const Message = z.looseObject({ info: MessageInfo, parts: z.array(Part) }).meta({ id: 'Message' })
export type Message = z.infer<typeof Message>

export const PageCursor = z.looseObject({ next: z.string().optional(), previous: z.string().optional() }).meta({ id: 'PageCursor' })

export const PromptPart = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text'), text: z.string() }),
    z.strictObject({ type: z.literal('agent'), name: z.string().min(1), source: z.unknown().optional() }),
    z.strictObject({ type: z.literal('file'), url: z.string().min(1), filename: z.string(), mime: z.string().min(1) }),
    z.strictObject({
      type: z.literal('subtask'),
      prompt: z.string(),
      description: z.string(),
      agent: z.string(),
      model: GivenUserModel.optional(),
      command: z.string().optional(),
    }),
  ])
  .meta({ id: 'PromptPart' })
export type PromptPart = z.infer<typeof PromptPart>

const Delivery = z.enum(['steer', 'queue'])

const isShort = (table: object) => Object.keys(table).length <= LIMITS.sessions.promptParts

export const PromptRequest = z
  .strictObject({
    prompt: z.string().optional(),
    parts: z.array(PromptPart).min(1).max(LIMITS.sessions.promptParts).optional(),
    messageId: ClientMessageId.optional(),
    model: GivenUserModel.optional(),
    variant: z.string().optional(),
    agent: z.string().optional(),
    delivery: Delivery.optional(),
    noReply: z.boolean().optional(),
    system: z.string().optional(),
    tools: z.record(z.string(), z.boolean()).refine(isShort, `must have at most ${LIMITS.sessions.promptParts} entries`).optional(),
    author: z.string().optional(),
    unattended: z.boolean().optional().describe('Nobody will answer: what the run asks and nobody answers in time is denied.'),
  })
  .meta({ id: 'PromptRequest' })
export type PromptRequest = z.infer<typeof PromptRequest>
/** As it is sent. */
export type PromptRequestInput = z.input<typeof PromptRequest>

const SessionQueueItem = z
  .looseObject({
    index: uint,
    noReply: z.boolean(),
    partCount: uint,
    text: z.string().nullable().optional(),
    agent: z.string().nullable().optional(),
    model: UserModel.nullable().optional(),
    messageId: z.string().optional().describe('Names the prompt where one is released or removed.'),
    held: z.literal(true).optional().describe('It has no turn before it is released.'),
  })
  .meta({ id: 'SessionQueueItem' })
export const SessionQueueInfo = z
  .looseObject({ sessionId: z.string(), count: uint, running: z.boolean(), worker: z.boolean(), items: z.array(SessionQueueItem) })
  .meta({ id: 'SessionQueueInfo' })
export type SessionQueueInfo = z.infer<typeof SessionQueueInfo>
export const SessionQueueMutation = z
  .looseObject({ sessionId: z.string(), removed: uint, queue: SessionQueueInfo })
  .meta({ id: 'SessionQueueMutation' })
export type SessionQueueMutation = z.infer<typeof SessionQueueMutation>
/** What becomes of prompts that wait when the run before them is aborted; what is held stays held. */
export const AbortQueue = z.enum(['go-on', 'hold', 'clear']).meta({ id: 'AbortQueue' })
export type AbortQueue = z.infer<typeof AbortQueue>
export const AbortRequest = z
  .strictObject({
    queue: AbortQueue.optional().describe(
      'Prompts that wait: `go-on` (the default) the next one runs, `hold` each is held until a person releases it, `clear` they are removed.',
    ),
    runId: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Only this run, as `session.status` names it: when it is over, nothing is aborted, the queue stays as it is, and the answer is false.',
      ),
  })
  .meta({ id: 'AbortRequest' })
export type AbortRequest = z.infer<typeof AbortRequest>
export const SessionQueueRelease = z
  .looseObject({ sessionId: z.string(), released: uint, queue: SessionQueueInfo })
  .meta({ id: 'SessionQueueRelease' })
export type SessionQueueRelease = z.infer<typeof SessionQueueRelease>
