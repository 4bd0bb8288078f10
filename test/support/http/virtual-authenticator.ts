import type { Page } from 'playwright-core';

/** Gives the page a device that creates passkeys and confirms each use, with the check of its person or without. */
export async function addVirtualAuthenticator(page: Page, isUserVerified = true): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}
