import type { ImageKind } from '../../src/contexts/onboarding/domain/image-kind.js';
import type {
  OnboardingFacts,
  PageStep,
  SentCode,
  StepBodies,
  StepMessage,
  StepRefusal,
  StepState,
} from '../../src/contexts/onboarding/http/widget/onboarding-types.js';

export type { ImageKind, OnboardingFacts, PageStep, StepMessage, StepState };

/** A response that is no success. Status 0: there was none. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly errors: StepRefusal['errors'] = {},
    readonly attemptsLeft: number | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(`refused with ${status}`);
  }

  /** No further message is sent: a long code is valid. */
  get longCodeValid(): boolean {
    return this.status === 429 && 'code' in this.errors;
  }

  get sessionEnded(): boolean {
    return 'session' in this.errors;
  }
}

type Step = Exclude<keyof StepBodies, 'code' | 'phone' | 'inbox'>;

/** The steps, as the server has them. All reject with {@link Refusal}. */
export class Api {
  session: string | null = null;

  /** `browser`: the nonce of this page. */
  constructor(
    private readonly steps: string,
    private readonly browser: string,
  ) {}

  async sendCode(phone_number: string): Promise<SentCode> {
    return (await this.post('code', { phone_number, browser: this.browser })) as SentCode;
  }

  async verifyPhone(phone_number: string, code: string): Promise<StepState> {
    return (await this.post('phone', { phone_number, code, browser: this.browser })) as StepState;
  }

  /** The code that the sandbox's phone got last. */
  async inbox(): Promise<string | null> {
    return ((await this.post('inbox', {})) as { readonly code: string | null }).code;
  }

  async step<Name extends Step>(name: Name, body: StepBodies[Name]): Promise<StepState> {
    return (await this.post(name, body)) as StepState;
  }

  async upload(kind: ImageKind, image: Blob): Promise<StepState> {
    return (await this.send(`images/${kind}`, image, image.type)) as StepState;
  }

  private post(name: string, body: object): Promise<unknown> {
    return this.send(name, JSON.stringify(body), 'application/json');
  }

  private async send(name: string, body: BodyInit, type: string): Promise<unknown> {
    const headers = new Headers({ 'content-type': type });
    if (this.session !== null) headers.set('authorization', `Bearer ${this.session}`);
    const response = await fetch(`${this.steps}/${name}`, { method: 'POST', headers, body }).catch(() => {
      throw new Refusal(0);
    });
    // A connection that ends within the response is none.
    const text = await response.text().catch(() => {
      throw new Refusal(0);
    });
    const answer = parse(text);
    if (response.ok && answer !== null) return answer;
    throw refusalOf(response, answer);
  }
}

/** The page once more, as the server would show it now. Rejects with {@link Refusal}. */
export async function reopen(): Promise<OnboardingFacts> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => {
    throw new Refusal(0);
  });
  if (!response.ok) throw refusalOf(response, null);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const facts = page.querySelector('main')?.dataset['facts'];
  if (facts === undefined) throw new Refusal(0);
  return JSON.parse(facts) as OnboardingFacts;
}

function refusalOf({ status, headers }: Response, answer: unknown): Refusal {
  const { errors = {}, attempts_left = null } = (answer ?? {}) as Partial<StepRefusal>;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  // Something else than the service responded: no words of it can be trusted.
  const told = status >= 400 ? status : 0;
  return new Refusal(told, errors, attempts_left, Number.isFinite(seconds) ? seconds : null);
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return null;
  }
}
