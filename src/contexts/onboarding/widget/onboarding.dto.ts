import type { ImageKind, SANDBOX_NAMES } from '../identity/image-kind.js';
import type { Consent, Details, Stage } from '../onboardings/onboarding.js';
import type { Messages } from '../words/messages.js';

/** The types shared with `widgets/onboarding`, a separate build. Times are ISO 8601, dates `YYYY-MM-DD`. */

export interface OnboardingFacts {
  /** The base path of the steps: `POST <steps>/<step>`. */
  readonly steps: string;
  readonly userId: string;
  readonly merchantName: string;
  readonly phoneNumber: string;
  readonly email: string | null;
  /** The redirect target at the end; unused within a frame. */
  readonly callbackUrl: string | null;
  /** The origins that may embed the page and receive its messages. Null allows any site (sandbox only). */
  readonly framers: readonly string[] | null;
  readonly codeEverySeconds: number;
  readonly minimumAge: number;
  readonly identityProvider: string | null;
  readonly imageDays: number;
  readonly consent: Readonly<Record<'terms' | 'privacy', { readonly version: string; readonly url: string }>>;
  readonly today: string;
  /** The last names that select an outcome; null in production. */
  readonly sandbox: typeof SANDBOX_NAMES | null;
  readonly locale: string;
  readonly messages: Messages;
}

/** The response of `code`. A long code has 18 digits and is valid for a day in any browser. */
export interface SentCode {
  readonly long: boolean;
}

/** The request bodies. All steps except `code`, `phone` and `inbox` require the session as a Bearer token. */
export interface StepBodies {
  /** `browser` is a secret nonce (32 to 64 hex digits). A six-digit code is valid only with that nonce. */
  code: { readonly phone_number: string; readonly browser: string };
  phone: { readonly phone_number: string; readonly code: string; readonly browser: string };
  /** Confirms the details and the consent to the versions that the page displayed. */
  details: Details & Consent;
  /** Submits the images, which were uploaded to `images/<kind>` as raw JPEG or PNG. */
  identity: Record<string, never>;
  'card/retry': Record<string, never>;
  state: Record<string, never>;
  inbox: Record<string, never>;
}

/** The response of every step except `code` and `inbox`. */
export interface StepState {
  readonly stage: Stage;
  /** The session token, returned by `phone` only. */
  readonly session?: string;
  /** The reason of `kyc_failed` or `card_failed`, in the language of the request. */
  readonly reason?: string;
  readonly submitted_at?: string;
  /** The kinds of uploaded images, only at the stage `details_confirmed`. */
  readonly images?: readonly ImageKind[];
}
