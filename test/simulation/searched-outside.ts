/** Seeds of histories that look outward and have found a defect of external agents, or of requests by a network, and what is seen not to hold. */
const DOUBLED = 'a prompt has one request to its model under way'

export const OUTSIDE_KEPT: Readonly<Record<string, readonly [seed: number, says: string]>> = {
  'an external agent that is left running': [7, 'an external agent is gone before another goes on with its session'],
  'an external agent whose death nobody notices': [13, 'the turn of an external agent that has died is over soon'],
  'an external agent that is waited for for ever': [
    15,
    'an external agent that was told to end its prompt has done so in its time, or is gone',
  ],
  'an external agent that is heard once its turn is over': [7, 'what comes after its turn, or belongs to another, is in no answer'],
  'an answer to an external agent that is told twice': [13, 'what an external agent asks for is answered once'],
  'a word of an external agent that is lost': [7, 'the answer of an external agent is what it has said in its turn'],
  'a model that is waited for for ever': [7, 'a request to a model ends in its time'],
  'a connection that is not closed': [7, DOUBLED],
  'an answer that was cut off and counts as whole': [7, 'an answer that has come to its end is all that the model has said'],
  'a request that is sent twice': [7, DOUBLED],
}
