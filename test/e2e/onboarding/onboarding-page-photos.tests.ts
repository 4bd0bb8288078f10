import { describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Images } from '../../../src/contexts/onboarding/identity/images.store.js';
import { SIZES } from '../../support/http/browser.js';
import type { OnboardingPages, Visit } from '../../support/onboarding/page-harness.js';

const NO_CAMERA: BrowserContextOptions = { permissions: [] };
const PLACE = 'GPS 52.52N 13.40E';

/** Tests of `onboarding-page-trouble.extended.e2e.ts`. */
export function describePhotos(pages: OnboardingPages): void {
  describe('with photos', () => {
    const toPhotos = async (locale: 'en' | 'es' | 'de', options?: BrowserContextOptions): Promise<Visit> => {
      const visit = await pages.open(locale, { at: 'documents', options });
      await visit.person.choose('documentsPassport');
      await visit.person.press('documentsBegin');
      await visit.person.heading('documentPassport');
      return visit;
    };
    const upload = async (
      { page, person }: Visit,
      name: string,
      buffer: Buffer,
      mimeType = '',
    ): Promise<void> => {
      const chooser = page.waitForEvent('filechooser');
      await person.button('captureUploadOnly').or(person.button('captureUpload')).click();
      await (await chooser).setFiles({ name, buffer, mimeType });
    };

    it('uploads photos without metadata if the camera is refused', async () => {
      const visit = await toPhotos('es', { ...NO_CAMERA, viewport: SIZES.phone });
      const { person, page } = visit;
      await person.text('cameraRefused').waitFor();
      await person.check('onboarding-5-camera-refused-phone');
      expect(await person.button('captureTake').count()).toBe(0);
      const photo = withPlace(await jpegOf(page, 3000, 1500));
      expect(photo.includes(PLACE)).toBe(true);
      for (const title of ['documentPassport', 'selfie'] as const) {
        await person.heading(title);
        await upload(visit, 'IMG_1.jpg', photo, 'image/jpeg');
        await person.press('captureUse');
      }
      await person.button('documentsSubmit').waitFor();
      const sent = await pages.app.app.get(Images, { strict: false }).of(visit.user.userId);
      expect(sent.map(({ kind }) => kind).sort()).toEqual(['document_front', 'selfie']);
      for (const { bytes: body } of sent) {
        expect(body.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
        expect([body.includes(PLACE), body.includes('Exif')]).toEqual([false, false]);
        expect(sizeOf(body)).toEqual([2000, 1000]);
      }
    });

    it('takes photos once the camera is allowed, and lets the person retake any photo at the end', async () => {
      const { person, page } = await toPhotos('de', NO_CAMERA);
      await person.text('cameraRefused').waitFor();
      await page.context().grantPermissions(['camera']);
      await person.press('captureCameraAgain');
      await page.locator('.outline').waitFor();
      await person.press('captureTake');
      await person.heading('captureCheck');
      // The camera is off.
      expect(await page.locator('video').count()).toBe(0);
      await person.press('captureAgain');
      await person.photograph('documentPassport');
      await person.photograph('selfie');
      await page
        .getByRole('button', { name: `${person.says('documentsRetake')}: ${person.says('selfie')}` })
        .click();
      await person.photograph('selfie');
      await person.press('documentsSubmit');
      await person.heading('doneHeading');
    });

    it('explains unusable photos in plain words', async () => {
      const visit = await toPhotos('es');
      const { person, page } = visit;
      await upload(visit, 'IMG_2.HEIC', Buffer.from('....ftypheic'));
      await person.text('imageHeic').waitFor();
      await upload(visit, 'scan.pdf', Buffer.from('%PDF-1.7'), 'application/pdf');
      await person.text('imageUnreadable').waitFor();
      await upload(visit, 'tiny.jpg', await jpegOf(page, 150, 150), 'image/jpeg');
      await person.text('imageSmall').waitFor();
      for (const [status, words] of [
        [413, 'imageLarge'],
        [415, 'imageRefused'],
        [422, 'imageRefused'],
      ] as const) {
        await page.route('**/images/*', (route) => route.fulfill({ status, json: { errors: {} } }), {
          times: 1,
        });
        await page.locator('.outline').waitFor();
        await person.press('captureTake');
        await person.press('captureUse');
        await person.text(words).waitFor();
        await person.heading('documentPassport');
      }
    });

    it('explains a camera that is in use, missing, failing or not available without https', async () => {
      const { person, page } = await pages.open('de', { at: 'documents' });
      await person.choose('documentsPassport');
      const rejectWith = (error: string): string =>
        `navigator.mediaDevices.getUserMedia = () => Promise.reject(${error})`;
      for (const [words, mayTryAgain, script] of [
        ['cameraBusy', true, rejectWith("new DOMException('', 'NotReadableError')")],
        ['cameraNone', true, rejectWith("new DOMException('', 'NotFoundError')")],
        ['cameraUnknown', true, rejectWith('new TypeError()')],
        ['cameraInsecure', false, "Object.defineProperty(window, 'isSecureContext', { value: false })"],
      ] as const) {
        await page.evaluate(`void (${script})`);
        await person.press('documentsBegin');
        await person.text(words).waitFor();
        expect(await person.button('captureCameraAgain').count()).toBe(mayTryAgain ? 1 : 0);
        await person.button('captureUploadOnly').waitFor();
        await page.goBack();
        await person.heading('documentsHeading');
      }
    });
  });
}

/** Creates a JPEG with visible content in the browser. */
async function jpegOf(page: Page, width: number, height: number): Promise<Buffer> {
  const url = await page.evaluate<string>(`{
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${height} });
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#c0ffee';
    pen.fillRect(0, 0, ${width}, ${height});
    pen.strokeRect(20, 20, ${width} - 40, ${height} - 40);
    canvas.toDataURL('image/jpeg');
  }`);
  return Buffer.from(url.split(',')[1]!, 'base64');
}

/** Adds a phone's metadata. */
function withPlace(jpeg: Buffer): Buffer {
  const exif = Buffer.from(`Exif\0\0${PLACE}`);
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, exif, jpeg.subarray(2)]);
}

function sizeOf(jpeg: Buffer): [width: number, height: number] {
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  return [jpeg.readUInt16BE(frame + 7), jpeg.readUInt16BE(frame + 5)];
}
