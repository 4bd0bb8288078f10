import { useState } from 'preact/hooks';
import type { ImageKind, Refusal, StepState } from './api.js';
import { Finder } from './finder.js';
import { jpegOf, photoOfFile, type Photo } from './image.js';
import { useAct, usePage } from './page.js';
import { Alert, Heading, Progress } from './parts.js';
import { PhotoView } from './photo-view.js';
import { describeTrouble } from './messages.js';

interface CaptureProps {
  readonly kind: ImageKind;
  /** The title of the photo. */
  readonly title: string;
  /** `state`: with the photo. */
  readonly done: (photo: Photo, state: StepState) => void;
  readonly back: () => void;
}

/** One photo from the camera or a file: checked by the person, then uploaded. */
export function Capture({ kind, title, done, back }: CaptureProps) {
  const { facts, api, format } = usePage();
  const [photo, setPhoto] = useState<Photo | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const { busy, run } = useAct((refusal) => {
    setTrouble(describeRefusal(refusal));
    // The same photo would be refused again.
    if (isAboutPhoto(refusal)) setPhoto(null);
  });
  const describeRefusal = (refusal: Refusal): string => {
    if (!isAboutPhoto(refusal)) return describeTrouble(format, facts.locale, refusal);
    return format(refusal.status === 413 ? 'imageLarge' : 'imageRefused');
  };
  const review = (next: Photo | null): void => {
    setTrouble(null);
    setPhoto(next);
  };
  const choose = async (file: File): Promise<void> => {
    const read = await photoOfFile(file);
    if (typeof read === 'string') setTrouble(format(read));
    else review(read);
  };
  const send = (): void =>
    run(async () => {
      setTrouble(null);
      done(photo!, await api.upload(kind, await jpegOf(photo!)));
    });
  const leave = (
    <button type="button" class="quiet" onClick={back}>
      {format('captureBack')}
    </button>
  );
  if (photo === null)
    return (
      <section class="capture">
        <Progress at={2} />
        <Heading>{title}</Heading>
        <Alert>{trouble}</Alert>
        <Finder kind={kind} title={title} took={review} chose={(file) => void choose(file)} />
        {leave}
      </section>
    );
  return (
    <section class="capture">
      <Progress at={2} />
      <Heading>{format(kind === 'selfie' ? 'captureCheckSelfie' : 'captureCheck')}</Heading>
      <Alert>{trouble}</Alert>
      <div class={`view captured ${kind}`}>
        <PhotoView photo={photo} label={format('capturePhoto')} width={1000} />
      </div>
      <button type="button" aria-disabled={busy} class={busy ? 'busy' : ''} onClick={send}>
        {format('captureUse')}
      </button>
      <span class="unseen" role="status">
        {busy ? format('busy') : ''}
      </span>
      <button type="button" class="second" onClick={() => busy || review(null)}>
        {format('captureAgain')}
      </button>
      {leave}
    </section>
  );
}

function isAboutPhoto({ status }: Refusal): boolean {
  return [413, 415, 422].includes(status);
}
