import type { OnboardingFacts, PageStep } from './api.js';

export const EMBEDDED = window.parent !== window;

/** Sends the step to the embedding page, if its origin may embed this one. */
export function notifyHost({ framers, userId }: OnboardingFacts, step: PageStep): void {
  if (!EMBEDDED) return;
  const message = { type: 'disburse.onboarding', version: 1, user_id: userId, step };
  for (const origin of hosts(framers)) window.parent.postMessage(message, origin);
}

function hosts(framers: OnboardingFacts['framers']): readonly string[] {
  // Firefox hides the embedding origin. Each allowed one is tried; browsers deliver only to the right one.
  const around = (location as { readonly ancestorOrigins?: DOMStringList }).ancestorOrigins?.[0];
  if (framers === null) return around === undefined || around === 'null' ? [] : [around];
  return around === undefined ? framers : framers.filter((origin) => origin === around);
}
