/** `svc/testing`: a runtime in memory for scripted integration tests. What other packages import; the build writes its declarations. */
import { readTrace as read } from '../../protocol/system/trace-text.js'
import { checkTrace as check } from './replay/check-trace.js'
import { recordedActors as recorded, replay as replayActor } from './replay/replay.js'
import type { CheckTrace, ReadTrace, RecordedActors, ReplayActor } from './replay/replay-types.js'
import type { StartTestRuntime } from './runtime-types.js'
import { startRuntime } from './start.js'
import { simulateStory } from './simulated/simulate.js'
import type { Simulate } from './simulated/simulate-types.js'

export const startTestRuntime: StartTestRuntime = startRuntime
export const simulate: Simulate = simulateStory

export const readTrace: ReadTrace = read
export const recordedActors: RecordedActors = recorded
export const replay: ReplayActor = replayActor
export const checkTrace: CheckTrace = check
