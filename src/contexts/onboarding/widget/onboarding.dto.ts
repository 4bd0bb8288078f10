import type { ImageKind, SANDBOX_NAMES } from '../identity/image-kind.js';
import type { Consent, Details, Stage } from '../onboardings/onboarding.js';
import type { Messages } from '../words/messages.js';

/**
 * The types that the onboarding widget (`widgets/onboarding`) shares with its server. The widget has a separate build. Times
 * are ISO 8601, dates `YYYY-MM-DD`.
 */

export interface OnboardingFacts {
  /** The base path of the steps: `POST <steps>/<step>`. */
  readonly steps: string;
  readonly userId: string;
  readonly merchantName: string;
  readonly phoneNumber: string;
  readonly email: string | null;
  /** The redirect target at the end; unused within a frame. */
  readonly callbackUrl: string | null;
  /** Origins that may embed the page and receive its messages. Null allows any site (a sandbox merchant without origins). */
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

/**
 * The request bodies of the steps. `browser` is a secret nonce of the page (32 to 64 hex digits). A six-digit code is
 * valid only with the nonce of its request. All steps except `code` and `phone` require the session as a Bearer token.
 */
export interface StepBodies {
  code: { readonly phone_number: string; readonly browser: string };
  phone: { readonly phone_number: string; readonly code: string; readonly browser: string };
  /** `last_name` is null for a person with one name. The versions are the displayed ones. */
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
  /** The uploaded images, at `details_confirmed`. */
  readonly images?: readonly ImageKind[];
}
