import type { StoredAnswer } from '../event-store/port.js';
import type { Sealer } from '../sealing/sealer.js';

/** JSON never begins like this. */
const SEALED = 'sealed:';

/** Answers that hold a secret are stored sealed: what is stored opens only as the answer of its own key. */
export class AnswerSeal {
  constructor(private readonly sealer: Sealer) {}

  seal(answer: StoredAnswer): StoredAnswer {
    return { ...answer, body: SEALED + this.sealer.seal(answer.body, placeOf(answer)) };
  }

  /** The answer as it was given; one that was not sealed comes back as it is. */
  open(answer: StoredAnswer): StoredAnswer {
    if (!answer.body.startsWith(SEALED)) return answer;
    return { ...answer, body: this.sealer.open(answer.body.slice(SEALED.length), placeOf(answer)) };
  }
}

function placeOf({ scope, key }: StoredAnswer): string {
  return `answer/${scope}/${key}`;
}
