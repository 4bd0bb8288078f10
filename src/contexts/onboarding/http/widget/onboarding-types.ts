import type { ImageKind, SANDBOX_NAMES } from '../../domain/image-kind.js';
import type { Consent, Details, Stage } from '../../domain/onboarding.js';
import type { Messages } from '../../words/messages.js';

/**
 * What the onboarding widget (`widgets/onboarding`) and its server send each other: types alone, as the page is built
 * separately. Times are ISO 8601, days `YYYY-MM-DD`.
 */

/** The facts in the document of the page. */
export interface OnboardingFacts {
  /** The path of the steps: `POST <steps>/<step>`. */
  readonly steps: string;
  readonly userId: string;
  readonly merchantName: string;
  readonly phoneNumber: string;
  readonly email: string | null;
  /** The address to which a page outside of a frame leads at the end. */
  readonly callbackUrl: string | null;
  /** Origins that may embed the page and receive its messages. Null: any site (a sandbox without a list). */
  readonly framers: readonly string[] | null;
  readonly codeEverySeconds: number;
  readonly minimumAge: number;
  /** The name of the provider that checks the photos; null where none is configured. */
  readonly identityProvider: string | null;
  /** The number of days after which photos are deleted in any case. */
  readonly imageDays: number;
  readonly consent: Readonly<Record<'terms' | 'privacy', { readonly version: string; readonly url: string }>>;
  /** Today in UTC. */
  readonly today: string;
  /** Last names that fail in the sandbox; null outside of it. */
  readonly sandbox: typeof SANDBOX_NAMES | null;
  /** Language tag, and the words in it. */
  readonly locale: string;
  readonly messages: Messages;
}

/** The response of `code`: a long code of 18 digits is valid for a day in any browser, another one as {@link StepBodies} says. */
export interface SentCode {
  readonly long: boolean;
}

/**
 * Bodies of the steps. `browser` is a secret nonce of the page (32 to 64 hex digits): a code of six digits is valid with the
 * nonce of the request that sent it. All but `code` and `phone` carry the session as a Bearer token.
 */
export interface StepBodies {
  code: { readonly phone_number: string; readonly browser: string };
  phone: { readonly phone_number: string; readonly code: string; readonly browser: string };
  /** `last_name` is null where a person has one name. The versions are those that the page displayed. */
  details: Details & Consent;
  /** Hands in what was uploaded to `images/<kind>` (the raw bytes of a JPEG or PNG as the body of that call). */
  identity: Record<string, never>;
  'card/retry': Record<string, never>;
  state: Record<string, never>;
  /** Sandbox alone. */
  inbox: Record<string, never>;
}

/** The response of every step but `code` and `inbox`. */
export interface StepState {
  readonly stage: Stage;
  /** The session, in the response to `phone` alone. */
  readonly session?: string;
  /** The reason of `kyc_failed` and `card_failed`, in the language of the request. */
  readonly reason?: string;
  /** The time at which the review of the identity began. */
  readonly submitted_at?: string;
  /** The images that were uploaded; of `details_confirmed`. */
  readonly images?: readonly ImageKind[];
}

/**
 * A refusal: a problem document. `errors.session`: the session has ended; `errors.code`: the code was not right
 * (422), or no further message is sent as a long code is valid (429); `errors.phone_unreachable`: the number gets no messages.
 */
export interface StepRefusal {
  readonly status: number;
  readonly detail: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** 422 of a code: how many guesses are left; 0: request a new one. */
  readonly attempts_left?: number;
}

/** The step of the page for the site that embeds it, without personal data. */
export type PageStep =
  'phone' | 'code' | 'details' | 'documents' | 'review' | 'failed' | 'card_failed' | 'setup' | 'done';

/** Sent by `postMessage` at each step; `version` changes when a member changes its meaning. */
export interface StepMessage {
  readonly type: 'disburse.onboarding';
  readonly version: 1;
  readonly user_id: string;
  readonly step: PageStep;
}
