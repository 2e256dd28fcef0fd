/** Of each defect of external agents, and of requests by a network, a history that shows it, and what of that is told. */
import type { History } from './history.js'
import { aborts, answers, asksFar, asksGuest, far, guest, guestManner, weather } from './tours/outside.js'
import { create, wait } from './tours/steps.js'

const guested = [create, guest, wait()]
const reached = [create, far, wait()]

export const OUTSIDE_SHOWN: Readonly<Record<string, readonly [says: string, history: History]>> = {
  'an external agent that is left running': [
    'no program of an external agent runs once nothing is under way',
    [...guested, asksGuest(1), wait(2000)],
  ],
  'an external agent whose death nobody notices': [
    'the turn of an external agent that has died is over soon',
    [...guested, guestManner('dies'), asksGuest(1), wait(2000)],
  ],
  'an external agent that is waited for for ever': [
    'an external agent is prompted in its time, or gone',
    [...guested, guestManner('dawdles'), asksGuest(1), wait(65_000)],
  ],
  'an external agent that is heard once its turn is over': [
    'what comes after its turn, or belongs to another, is in no answer',
    [...guested, guestManner('late'), asksGuest(1), wait(2000), asksGuest(2), wait(2000)],
  ],
  'an answer to an external agent that is told twice': [
    'what an external agent asks for is answered once',
    [...guested, guestManner('asks'), asksGuest(1), wait(), answers, wait()],
  ],
  'a word of an external agent that is lost': [
    'the answer of an external agent is what it has said in its turn',
    [...guested, asksGuest(1), wait(2000)],
  ],
  'a model that is waited for for ever': [
    'a request to a model ends in its time',
    [...reached, weather('stalls'), asksFar(1), wait(125_000)],
  ],
  'a connection that is not closed': [
    'no request to a model is open once nothing is under way',
    [...reached, weather('mute'), asksFar(1), wait(), aborts('far'), wait()],
  ],
  'an answer that was cut off and counts as whole': [
    'an answer that has come to its end is all that the model has said',
    [...reached, weather('resets'), asksFar(1), wait(2000)],
  ],
  'a request that is sent twice': ['a prompt has one request to its model under way', [...reached, asksFar(1), wait(2000)]],
}
