/**
 * Transitions that the simulated world cannot take, by their machine, each with its reason; one for a machine as a whole that is not in the
 * world. One that is taken all the same is listed no more (`coverage.test.ts`).
 */
export const NEVER: Readonly<Record<string, string | Readonly<Record<string, readonly string[]>>>> = {
  activation: {
    'an activation that rests has no actor: what is seen of its file is counted in as it is made anew': [
      'inactive: file.saved → deciding',
      'inactive: file.lost → deciding',
      'paused: file.saved → deciding',
      'paused: file.lost → deciding',
      'lost: file.saved → deciding',
      'lost: file.lost → deciding',
      'waiting: file.saved → deciding',
      'waiting: file.lost → deciding',
      'waiting: clock.checked → deciding',
      'completed: file.saved → deciding',
      'completed: file.lost → deciding',
    ],
    'what activates a workflow refuses a file that is not valid, or gone': ['lost: activate.requested → deciding'],
  },
  asking: 'of svc acp, a client in a process of its own',
  checkout: 'git is a program, and those of the world do nothing',
  clone: 'nobody hosts workspaces in the world',
  compaction: {
    'what begins a summary throws nothing: its failure is told': ['summarising: summarise failed → ending'],
  },
  'credential-lease': 'models are lent to workers, and the world has none',
  embeddings: 'the plugin of the search by meaning is not started',
  'external-child': 'no external agent of the world has others work for it',
  'external-preview': 'nobody looks at what an external agent offers',
  'external-turn': {
    'nobody chooses anything of an external agent': ['opening.choosing: choose failed → ending'],
    'what ends an agent, and what is waited for before that, throws nothing': [
      'held: told failed → leaving',
      'leaving: leave failed → ended',
      'ending: end failed → ended',
    ],
  },
  generation: {
    'machines of a process throw nothing': ['any state: child failed → killing'],
    'what is published is so before anybody else has a turn': [
      'publishing: switched.off → retiring',
      'publishing: revoked → retiring',
      'publishing: superseded → retiring',
    ],
    'a candidate is taken back where another one is to be tried': ['starting: superseded → killing'],
    'a call has the same deadline, and it began a moment before': ['draining: after drainLimit → retiring'],
    'what a generation waits for is told, and fails in nothing': [
      'serving: watch failed → killing',
      'draining: watch failed → killing',
      'draining: drain failed → retiring',
      'leaving: watch failed → killing',
      'leaving: drain failed → retiring',
      'retiring: retire failed → killing',
      'killing: kill failed → ended',
    ],
  },
  goal: {
    'who waits for a session that is deleted is told so': ['following: follow failed → waiting'],
    'a decision is made before anybody else has a turn': ['deciding: session.stirred', 'resting: at once [isStirred] → following'],
    'a goal and its row come and go in one commit': ['deciding: decide done → cleared'],
  },
  handles: 'no plugin of the world asks for what a broker keeps open',
  installation: 'no plugin of the world is an npm package',
  instance: {
    'what watches, retires and kills a process throws nothing': [
      'any state: process failed → killing',
      'retiring: retire failed → killing',
      'killing: kill failed → gone',
    ],
    'a process that rests has no actor before it is called or woken': ['resting: retire.requested → gone'],
    'a generation that starts is killed, not retired': ['starting: retire.requested → killing'],
    'every program of the world can be started': ['starting.spawning: spawn failed → gone'],
  },
  interaction: {
    'the commit has told it before the effect is over': [
      'asked.waiting.expiring: recordExpiry done → expired',
      'asked.withdrawing: recordWithdrawal done → withdrawn',
    ],
  },
  job: 'the plugin of the shell is not started',
  lease: 'no plugin of the world asks a broker',
  look: {
    'looks that can fail are those at the configuration, which end with the server, and nobody tells them': [
      'looking: look failed [isLeaving] → stopped',
      'looking: look failed [isOutdated] → looking',
    ],
    'who ends a look forgets it': ['looking.leaving: stop.requested'],
  },
  'lsp-client': 'language servers are programs',
  'mcp-connection': 'MCP servers are programs',
  opened: 'no plugin of the world asks for what a broker keeps open',
  package: {
    'a workspace is in use as long as its sessions are': [
      'any state: unwanted',
      'running: unwanted [isTrusted] → resting.trusted',
      'running: unwanted → resting.permission-required',
      'leaving: unwanted',
    ],
    'machines of a generation throw nothing': [
      'any state: child failed',
      'running.starting.loading: child failed [isRefusedWhileFound] → running.serving.active',
      'running.starting.loading: child failed [isRefusedWhileServing] → running.serving.update-available',
      'running.starting.loading: child failed [isRefusedStrictly] → resting.failed',
      'running.starting.loading: child failed [isCandidate] → running.degraded',
      'running.starting.loading: child failed',
      'running.starting.restoring: child failed [isCandidate] → running.degraded',
      'running.starting.restoring: child failed',
    ],
    'manifests of the world can be read': [
      'resting: assessed [isInvalid] → resting.failed',
      'running: assessed [isInvalid] → resting.failed',
    ],
    'nobody asks for another attempt': [
      'resting.failed: restore.requested [canRestore] → running.starting.restoring',
      'running.serving.update-available: restore.requested [isTrusted] → running.starting',
      'running.degraded: restore.requested [canRestore] → running.starting.restoring',
    ],
    'of packages that come from outside, none clashes': [
      'resting.failed: conflict.changed [mayEnable] → running',
      'running.serving.update-available: conflict.changed [isTrusted] → running.starting',
    ],
    'the plugin has no hooks': [
      'running.serving.active: hook.failed [isServingNumber] → running.degraded',
      'running.degraded: hook.succeeded [isServingNumber] → running.serving',
      'running.degraded: hook.failed [isServingNumber]',
    ],
    'no content comes back that was there before': ['running: assessed [isServingCurrent] → running.serving.active'],
    'of all programs the newest fails, and none as often as that': [
      'running.starting: generation.unavailable [isServingNumber]',
      'running.starting.loading: child done [isRefusedWhileFound] → running.serving.active',
      'running.starting.loading: child done [isCandidate] → running.degraded',
      'running.starting.loading: child done',
      'running.starting.restoring: child done',
    ],
    'a server that stops tells its packages once, and a plugin that is built in never goes': [
      'leaving: removed',
      'leaving: stop.requested',
      'leaving: wanted',
    ],
  },
  pty: 'the plugin of terminals is not started',
  run: {
    'no step has more than 64 calls that are open as it ends, and others are closed in the turn in which they end': [
      'closing: abort.requested',
      'closing: closeStep done [isDue] → ending',
    ],
    'machines of a run throw nothing: what fails in them is one of their ends': [
      'any state: child failed [isCall]',
      'compacting: compaction failed → ending',
    ],
    'a call has the same deadline, and it began a moment before': ['ending.aborting: after abortDeadline → ending.recording'],
  },
  runtime: {
    'nobody starts a server on a disk that fails, or stops one that starts': [
      'starting: stop.requested → stopping',
      'starting: kill.requested → killing',
      'starting.recovering: recover failed → killing',
      'starting.startingPlugins: startPlugins failed → killing',
      'starting.startingSessions: startSessions failed → killing',
      'starting.listening: listen failed → killing',
    ],
    'a stop in order is waited for, and none of its effects is broken': [
      'stopping: kill.requested → killing',
      'stopping: after stopDeadline → killing',
      'stopping.refusing: refuse failed → stopping.drainingSessions',
      'stopping.drainingSessions: drainSessions failed → stopping.drainingPlugins',
      'stopping.drainingPlugins: drainPlugins failed → stopping.closingStore',
      'stopping.closingStore: closeStore failed → stopped',
      'killing: abandon failed → stopped',
    ],
  },
  screen: 'of the terminal, a client in a process of its own',
  'search-index': 'the plugin of the search by meaning is not started',
  session: {
    'what a look waits for before it finds nothing is a restore, and tours that stopped there ended with it': [
      'idle: at once [isStopping] → stopped',
    ],
    'a title that fails has ended as any other': ['any state: child failed [isTitle]'],
    'machines of a session throw nothing: what fails in them is one of their ends': [
      'working.running: run failed → recovering',
      'working.compacting: compaction failed → recovering',
    ],
    'an end is recorded, or not, before anybody else has a turn': ['recovering: stop.requested'],
  },
  'sign-in': 'the played provider wants no sign-in',
  subscription: {
    'what readers are sent is read and written without a fault': [
      'any state: delivery.failed → ended',
      'replaying: replay failed → ended',
      'live: deliver failed → ended',
    ],
    'every reader has a cursor': ['opening: at once → live'],
    'no event grows so old that it is removed': ['replaying: log.pruned → ended'],
  },
  'step-recorder': {
    'what was said is stored before anything more can be': ['open.storing: said → open.behind'],
  },
  task: {
    'a family is deleted once it is quiet: what its tasks came to is told by then': ['any state: session.gone → stopped'],
    'a session that was made for a task takes its prompt wherever something can be written': [
      'queued.submitting: submit failed → reporting',
    ],
    'a session that is followed is quiet before it is deleted': ['running: follow failed → reporting'],
    'the disk would have to fail between the admission of a prompt and the note of it, in one turn: a test of the plugin has it do that': [
      'reporting.recording: record done [isRecorded] → queued',
    ],
    'more would have to come in the turn between the quiet of its session and the record of it': [
      'reporting.recording: record done [isRecorded] → running',
    ],
  },
  title: {
    'of three sessions at most three titles wait': ['making: turn.refused → givenUp'],
    'what waits for a turn throws nothing': ['making: turn failed → givenUp'],
  },
  'tool-call': {
    'rules are in memory, and a refusal that cannot be stored is kept by its step': [
      'judging: judge failed → faulting',
      'faulting: refuse-fault failed → settled',
    ],
    'what executes a tool throws nothing: its failure is an end': ['executing: execute failed → faulting'],
    'no run has so many rounds': [
      'judging: judge done → refusing',
      'refusing: refuse-rounds done → settled',
      'refusing: refuse-rounds failed → settled',
    ],
  },
  turn: 'of svc acp, a client in a process of its own',
  worker: 'it is a process of its own',
  'workflow-engine': {
    'following files and settings never fails: what was missed is told, and followed later': [
      'starting.looking: follow failed → starting.late',
      'serving.schedule.arming: arm failed → serving.schedule.late',
      'serving.schedule.late: after startDelay → serving.schedule.arming',
      'serving.schedule.beating: beat failed → serving.schedule.resting',
      'serving.files.looking: recheck failed → serving.files.waiting',
    ],
    'the end of the service is told once, and before that of its plugins': [
      'refusing: service.stopping',
      'stopping: service.stopping',
      'stopping: stop.requested',
    ],
    'runs are told of the end, and waited for, by what cannot fail': ['refusing: refuse failed', 'stopping: drain failed → stopped'],
  },
  'workflow-root': {
    'a directory that cannot be looked at counts as one that is not there': [
      'open.directory.absent.asking: find failed → open.directory.absent.waiting',
    ],
    'every folder of the played disk that is there can be listened to': [
      'open.directory.absent.waiting: after appearance → open.directory.absent.asking',
      'open.directory.absent.asking: find done → open.directory.absent.waiting',
    ],
    'what the folders above tell is asked after at once, and no look comes before that': [
      'open.directory.absent: covered [isWatched] → open.directory.watched',
    ],
    'a directory of the played disk is watched from the moment on it is there': [
      'open.directory.watched: covered → open.directory.absent',
      'open.directory.absent.asking: find done [isFound] → open.directory.deaf',
      'open.directory.deaf: covered [isWatched] → open.directory.watched',
      'open.directory.deaf.waiting: after appearance → open.directory.deaf.asking',
      'open.directory.deaf.asking: findAgain done [isFound] → open.directory.watched',
      'open.directory.deaf.asking: findAgain done [isFound] → open.directory.deaf.waiting',
      'open.directory.deaf.asking: findAgain done → open.directory.absent',
      'open.directory.deaf.asking: findAgain failed → open.directory.deaf.waiting',
    ],
  },
  'workflow-run': {
    'a moment is waited for until it comes, or the run is over': ['retry-waiting.sleeping: untilDue failed → retry-waiting.pausing'],
    'what fails as an attempt is claimed postpones it': ['retry-waiting.reclaiming: reclaim failed → retry-waiting.pausing'],
    'a session is deleted once it has settled: its run has heard of that by then': [
      'working.running: followSession failed [isCut] → ending',
      'working.running: followSession failed → ending',
    ],
    'an end is recorded, or not, before a plugin that is switched off can tell its runs': ['ending.recording: stop.requested'],
  },
  workspace: {
    'a workspace is looked at in the turn in which it is used first': ['tracked.files.unused: files.changed'],
    'no look of the played disk lasts an hour': ['tracked.sessions.none: after idleTeardown [isLooking] → tracked.sessions.none'],
    'nobody asks what a session that is asleep can do': ['tracked.sessions.some: visit.expired'],
    'no watch of the played disk is lost': ['tracked: watch.lost'],
  },
}
