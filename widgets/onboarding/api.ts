import type { ImageKind } from '../../src/contexts/onboarding/identity/image-kind.js';
import type {
  OnboardingFacts,
  SentCode,
  StepBodies,
  StepState,
} from '../../src/contexts/onboarding/widget/onboarding.dto.js';

export type { ImageKind, OnboardingFacts, StepState };

/** The step that the page reports to the embedding site, without personal data. */
export type PageStep =
  'phone' | 'code' | 'details' | 'documents' | 'review' | 'failed' | 'card_failed' | 'setup' | 'done';

/** An error response. Status 0 means no response. */
export class Refusal extends Error {
  /** `errors` has `session` (ended), `code` (wrong, or a long one is still valid) or `phone_unreachable`. */
  constructor(
    readonly status: number,
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
    readonly attemptsLeft: number | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(`refused with ${status}`);
  }

  /** True if no SMS is sent because a long code is still valid. */
  get longCodeValid(): boolean {
    return this.status === 429 && 'code' in this.errors;
  }

  get sessionEnded(): boolean {
    return 'session' in this.errors;
  }
}

type Step = Exclude<keyof StepBodies, 'code' | 'phone' | 'inbox'>;

/** The API of the page. All calls reject with {@link Refusal}. */
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
    const text = await response.text().catch(() => {
      throw new Refusal(0);
    });
    const json = parse(text);
    if (response.ok && json !== null) return json;
    throw refusalOf(response, json);
  }
}

/** Loads the facts of the page again. Rejects with {@link Refusal}. */
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

function refusalOf({ status, headers }: Response, json: unknown): Refusal {
  const { errors = {}, attempts_left = null } = (json ?? {}) as {
    readonly errors?: Refusal['errors'];
    readonly attempts_left?: number;
  };
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  // Another status is not from the service.
  const trusted = status >= 400 ? status : 0;
  return new Refusal(trusted, errors, attempts_left, Number.isFinite(seconds) ? seconds : null);
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return null;
  }
}
