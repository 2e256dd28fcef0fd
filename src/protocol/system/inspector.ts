/**
 * What the inspector shows: live actors, their state charts, what happened to them, plugins, and traces of all that
 * (laws §8). Text of prompts and secrets is in none of it: of a payload the keys, JSON types and lengths are told.
 */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { LIMITS } from '../limits.js'
import { ms, queryInt, uint } from '../shared.js'

/** Version of the trace format; a reader refuses every other. */
export const TRACE_VERSION = 1
export const TRACE_FORMAT = 'svc-inspector-trace'

export const InspectedActor = z
  .looseObject({
    /** Path of the actor from its root, unique among live actors: `session:ses_1/run`. */
    id: z.string(),
    /** Absent for roots. */
    parentId: z.string().optional(),
    /** `runtime`, `session`, `package`, … for roots; for children the id of their machine, or `effect`. */
    kind: z.string(),
    name: z.string(),
    /** Of a tool call: its tool, and the plugin it belongs to. */
    title: z.string().optional(),
    pluginId: z.string().optional(),
    /** Id of its machine; absent for effects. */
    machine: z.string().optional(),
    /** Paths of the innermost active states; empty for effects. */
    state: z.array(z.string()),
    /** When it was started; absent for children that were older than the inspector. */
    startedAt: ms.optional(),
    /** When it entered its state, as far as that was seen. */
    since: ms.optional(),
    /** Starts after a crash. */
    restarts: uint,
  })
  .meta({ id: 'InspectedActor' })
export type InspectedActor = z.infer<typeof InspectedActor>

export const InspectorRecord = z
  .looseObject({
    /** Grows by one; what is missing was dropped. */
    sequence: uint,
    at: ms,
    actorId: z.string(),
    /** `event` has arrived; `transition`: the state is another; `start` and `stop` of an actor. */
    type: z.enum(['event', 'transition', 'start', 'stop']),
    /** Type of the event that arrived or caused it. */
    event: z.string().optional(),
    /** Actor that sent the event. */
    sourceId: z.string().optional(),
    /** Keys, JSON types and lengths of the payload: `{runId: string(16)}`. */
    shape: z.string().optional(),
    /** The payload as JSON, cut; of a start its input, of the end of a tool call what was asked for and what came of it. Only when the operator asked for it at start. */
    payload: z.string().optional(),
    /** Of a transition: the record of the event that caused it. */
    cause: uint.optional(),
    before: z.array(z.string()).optional(),
    after: z.array(z.string()).optional(),
    /** The actor that started or stopped. */
    actor: InspectedActor.optional(),
    /** How it stopped. */
    end: z.enum(['done', 'error', 'stopped']).optional(),
    /** What came of it, in a word of its machine: `completed`, `failed`, `denied`, `aborted`. */
    result: z.string().optional(),
  })
  .meta({ id: 'InspectorRecord' })
export type InspectorRecord = z.infer<typeof InspectorRecord>

export const InspectedTransition = z.looseObject({
  /** Event in plain words: `woken`, `run done`, `after idleMemory`, `at once`. */
  event: z.string(),
  guard: z.string().optional(),
  /** Paths of the targets; absent when the state stays. */
  targets: z.array(z.string()).optional(),
  actions: z.array(z.string()),
  /** Length of the delay of an `after`, ms, when it is a number. */
  delay: z.number().optional(),
})
export type InspectedTransition = z.infer<typeof InspectedTransition>

export interface InspectedState {
  readonly key: string
  /** Keys from the machine down, joined by dots; '' for the machine. */
  readonly path: string
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  readonly initial?: string | undefined
  /** Effects that run in this state. */
  readonly invokes: readonly string[]
  readonly tags: readonly string[]
  readonly transitions: readonly InspectedTransition[]
  readonly states: readonly InspectedState[]
}

export const InspectedState: z.ZodType<InspectedState> = z
  .looseObject({
    key: z.string(),
    path: z.string(),
    type: z.enum(['atomic', 'compound', 'parallel', 'final', 'history']),
    initial: z.string().optional(),
    invokes: z.array(z.string()),
    tags: z.array(z.string()),
    transitions: z.array(InspectedTransition),
    get states() {
      return z.array(InspectedState)
    },
  })
  .meta({ id: 'InspectedState' })

const area = { x: z.number(), y: z.number(), width: z.number(), height: z.number() }

/** Where the boxes and arrows of a chart go; made when svc is built. */
export const InspectedLayout = z
  .looseObject({
    width: z.number(),
    height: z.number(),
    /** One for each state but the machine itself, outermost first; `path` ends in `/*` where it stands for whichever state is active. */
    boxes: z.array(z.looseObject({ path: z.string(), ...area })),
    /** One for all transitions from one box to another. `at` is the background of the label; the path is straight between its points. */
    lines: z.array(
      z.looseObject({
        from: z.string(),
        to: z.string(),
        label: z.array(z.string()),
        at: z.looseObject(area),
        points: z.array(z.tuple([z.number(), z.number()])),
      }),
    ),
  })
  .meta({ id: 'InspectedLayout' })
export type InspectedLayout = z.infer<typeof InspectedLayout>

export const InspectedMachine = z
  .looseObject({
    id: z.string(),
    root: InspectedState,
    delays: z.record(z.string(), z.number().nullable()),
    /** Absent for a machine that is no part of svc itself. */
    layout: InspectedLayout.optional(),
    /** A smaller one without the names of events, where the page has a use for it. */
    overview: InspectedLayout.optional(),
  })
  .meta({ id: 'InspectedMachine' })
export type InspectedMachine = z.infer<typeof InspectedMachine>

/** What went between the host and one plugin process; in is what the plugin sent. */
const InspectedFrames = z.looseObject({
  framesIn: uint,
  framesOut: uint,
  bytesIn: uint,
  bytesOut: uint,
  dropped: uint,
  /** Streams that are open now. */
  streams: uint,
})
type InspectedFrames = z.infer<typeof InspectedFrames>

/** What one incarnation of a plugin holds of one capability. */
const InspectedLease = z.looseObject({
  capability: z.string(),
  /** `granted` until it is used; `freeing` while what it has opened is being ended; `revoked`: nothing is answered any more. */
  state: z.enum(['granted', 'used', 'freeing', 'revoked']).optional(),
  calls: uint,
  /** Calls that were refused or failed. */
  denied: uint,
  /** Calls under way, and what they have left open; `most` of each where there is a limit. */
  running: uint,
  open: uint,
  runningMost: uint.optional(),
  openMost: uint.optional(),
  bytes: uint,
  lastUsedAt: ms.optional(),
})

/** What a package may use in a window of time, whatever generations and places it runs in, and what it has used. */
const InspectedQuota = z.looseObject({
  capability: z.string(),
  unit: z.enum(['calls', 'bytes', 'tokens', 'cost']),
  used: z.number().nonnegative(),
  /** Absent while it is not known yet. */
  limit: z.number().nonnegative().optional(),
  per: z.enum(['minute', 'day']),
})
export type InspectedQuota = z.infer<typeof InspectedQuota>

/** One call, without what was asked and answered. */
const InspectedCall = z.looseObject({
  at: ms,
  /** Who calls: the host the plugin, or the plugin the host. */
  from: z.enum(['host', 'plugin']),
  generation: uint,
  method: z.string(),
  /** What of it is called: a tool, a hook, a service, a route, or an operation of the host. */
  name: z.string().optional(),
  sessionId: z.string().optional(),
  /** Absent while it runs. */
  ms: uint.optional(),
  /** `running`, `ok`, `aborted`, or the name of the error. */
  outcome: z.string(),
})
export type InspectedCall = z.infer<typeof InspectedCall>

/** One thing a plugin contributes, by its id. */
const InspectedOffer = z.looseObject({ kind: z.string(), id: z.string(), detail: z.string().optional() })
export type InspectedOffer = z.infer<typeof InspectedOffer>

export const InspectedPlugin = z
  .looseObject({
    key: z.string(),
    pluginId: z.string(),
    /** Where it comes from. */
    origin: z.enum(['native', 'package', 'process', 'hook-command']),
    workspace: z.string().optional(),
    state: z.string(),
    verdict: z.string().optional(),
    source: z.string().optional(),
    scope: z.string().optional(),
    /** Content that was found, and content that serves when that is another. */
    revision: z.string().optional(),
    retainedRevision: z.string().optional(),
    /** Of the content that was found; what an approval pins beside the revision. */
    digest: z.string().optional(),
    scopeId: z.string().optional(),
    /** How a package runs. */
    runtime: z.string().optional(),
    /** Its part that runs inside of the server where this content is approved so, and what that means; absent without such a part. */
    native: z.looseObject({ approved: z.boolean(), words: z.string() }).optional(),
    /** Requested, and nothing here provides them: it cannot be approved. */
    unprovidedCapabilities: z.array(z.string()).optional(),
    requestedCapabilities: z.array(z.string()),
    grantedCapabilities: z.array(z.string()),
    /** What is asked for in words, with the hosts and secrets that the manifest names: what an approval approves. */
    requests: z.array(z.looseObject({ capability: z.string(), words: z.string() })).optional(),
    /** What the content that serves was approved for, where other content was found. */
    retainedCapabilities: z.array(z.string()).optional(),
    /** Other content than what was found was approved before. */
    hasEarlier: z.boolean().optional(),
    /** What serves, by kind; absent where nothing does. At most so many as `LIMITS.inspector.pluginOffers`; `moreOffers` counts the others. */
    offers: z.array(InspectedOffer).optional(),
    moreOffers: uint.optional(),
    quotas: z.array(InspectedQuota).optional(),
    /** The latest calls, oldest first. */
    calls: z.array(InspectedCall).optional(),
    serving: uint.optional(),
    candidate: uint.optional(),
    /** Generations that still run something; `actorId` leads to their actor. Only processes have frames. */
    generations: z.array(
      z.looseObject({
        number: uint,
        actorId: z.string(),
        state: z.array(z.string()),
        /** Content that it runs. */
        revision: z.string().optional(),
        /** When it was ready to be called. */
        readyAt: ms.optional(),
        /** Calls inside it; what it drains waits for. */
        leases: uint.optional(),
        frames: InspectedFrames.optional(),
        /** What it asked of brokers so far. */
        brokers: z.array(InspectedLease).optional(),
      }),
    ),
    strikes: uint,
    /** Of generations that are gone. */
    droppedFrames: uint,
    reason: z.string().optional(),
    diagnostics: z.array(z.looseObject({ code: z.string(), message: z.string(), action: z.string().optional() })),
  })
  .meta({ id: 'InspectedPlugin' })
export type InspectedPlugin = z.infer<typeof InspectedPlugin>

export const InspectorTree = z
  .looseObject({
    at: ms,
    /** Last record that is contained in this picture. */
    sequence: uint,
    actors: z.array(InspectedActor),
    plugins: z.array(InspectedPlugin),
    /** Directory of the configuration of the installation, which holds approvals and switches. */
    configuration: z.string(),
  })
  .meta({ id: 'InspectorTree' })
export type InspectorTree = z.infer<typeof InspectorTree>

export const InspectorTrace = z
  .looseObject({
    format: z.literal(TRACE_FORMAT),
    version: z.literal(TRACE_VERSION),
    createdAt: ms,
    serverVersion: z.string(),
    machines: z.array(InspectedMachine),
    /** As they are after the last record. */
    actors: z.array(InspectedActor),
    plugins: z.array(InspectedPlugin),
    records: z.array(InspectorRecord),
    /** Records before the first one that were not kept. */
    dropped: uint,
  })
  .meta({ id: 'InspectorTrace' })
export type InspectorTrace = z.infer<typeof InspectorTrace>

/** What the processes of one plugin wrote to their standard error. It is in no trace. */
export const InspectedLines = z
  .looseObject({
    /** The newest ones, oldest first. */
    lines: z.array(z.looseObject({ at: ms, generation: uint, text: z.string() })),
  })
  .meta({ id: 'InspectedLines' })
export type InspectedLines = z.infer<typeof InspectedLines>

/** Data of one `records` frame of the stream. */
export const InspectorFrame = z
  .looseObject({
    records: z.array(InspectorRecord),
    /** Records that were dropped before these, because the viewer or the ring could not hold them. */
    dropped: uint,
  })
  .meta({ id: 'InspectorFrame' })
export type InspectorFrame = z.infer<typeof InspectorFrame>

const common = { method: 'GET', tag: 'inspector', access: { class: 'local' } } as const

export const inspectorRoutes = {
  tree: defineRoute({
    ...common,
    id: 'v2.inspector.tree',
    path: '/v2/inspector/tree',
    summary: 'Every live actor and plugin as it is now.',
    success: { status: 200, description: 'Actors, parents first.', schema: InspectorTree },
  }),
  machines: defineRoute({
    ...common,
    id: 'v2.inspector.machines',
    path: '/v2/inspector/machines',
    summary: 'State charts of the machines that live actors run.',
    success: { status: 200, description: 'Machines by id.', schema: z.array(InspectedMachine) },
  }),
  events: defineRoute({
    ...common,
    id: 'v2.inspector.events',
    path: '/v2/inspector/events',
    query: z.strictObject({ since: queryInt(0, Number.MAX_SAFE_INTEGER).optional() }),
    summary: 'What happens to actors, as it happens. Actors are observed while somebody reads this stream, and only then.',
    success: { status: 200, description: 'Frames `records`.', mediaType: 'text/event-stream', schema: InspectorFrame },
  }),
  lines: defineRoute({
    ...common,
    id: 'v2.inspector.lines',
    path: '/v2/inspector/lines',
    query: z.strictObject({ plugin: z.string().max(LIMITS.inspector.name).optional() }),
    summary: 'What the processes of a plugin wrote to their log last.',
    success: {
      status: 200,
      description: 'Lines, oldest first; none without a plugin, or of one that is not there.',
      schema: InspectedLines,
    },
  }),
  trace: defineRoute({
    ...common,
    id: 'v2.inspector.trace',
    path: '/v2/inspector/trace',
    summary: 'Everything the inspector holds, to be looked at without a server.',
    success: { status: 200, description: 'A trace.', schema: InspectorTrace },
  }),
} as const

const page = { method: 'GET', tag: 'inspector', access: { class: 'open' } } as const

/** The page and its two files. They hold nothing of the installation, so nobody is asked; they are no part of the API. */
export const inspectorPage = {
  html: defineRoute({
    ...page,
    id: 'inspector.page',
    path: '/v2/inspector',
    summary: 'The inspector.',
    success: { status: 200, description: 'A page.', mediaType: 'text/html; charset=utf-8' },
  }),
  script: defineRoute({
    ...page,
    id: 'inspector.script',
    path: '/v2/inspector.js',
    summary: 'Its script.',
    success: { status: 200, description: 'A script.', mediaType: 'text/javascript; charset=utf-8' },
  }),
  style: defineRoute({
    ...page,
    id: 'inspector.style',
    path: '/v2/inspector.css',
    summary: 'Its style.',
    success: { status: 200, description: 'A style sheet.', mediaType: 'text/css; charset=utf-8' },
  }),
} as const
