import { useRef } from 'preact/hooks';
import type { ImageKind } from './api.js';
import { photoOfVideo, samplePhoto, type Photo } from './image.js';
import { usePage } from './page.js';
import { Alert, SandboxNote } from './parts.js';
import { useCamera } from './use-camera.js';

const HELP = {
  document_front: 'captureFrontHelp',
  document_back: 'captureBackHelp',
  selfie: 'captureSelfieHelp',
} as const;
/** iPhones make a JPEG of what they choose for these. */
const FILES = 'image/jpeg,image/png,image/webp';

interface FinderProps {
  readonly kind: ImageKind;
  readonly title: string;
  readonly took: (photo: Photo) => void;
  readonly chose: (file: File) => void;
}

/** The camera, live; and the ways without it. */
export function Finder({ kind, title, took, chose }: FinderProps) {
  const { format } = usePage();
  const { video, stage, again } = useCamera(kind === 'selfie' ? 'user' : 'environment');
  const file = useRef<HTMLInputElement>(null);
  const trouble = stage === 'live' || stage === 'starting' ? null : stage;
  const mayWorkLater = trouble !== 'cameraInsecure' && trouble !== 'cameraNotDelegated';
  const take = (): void => {
    if (stage === 'live') took(photoOfVideo(video.current!));
  };
  return (
    <>
      <p class="lead">{format(HELP[kind])}</p>
      <Alert kind="info">{trouble && format(trouble)}</Alert>
      {trouble === null && (
        <>
          <div class={`view ${kind}`}>
            <video ref={video} muted playsInline aria-label={format('captureLive')} />
            {stage === 'live' ? (
              <div class="outline" />
            ) : (
              <p class="starting" role="status">
                {format('captureStarting')}
              </p>
            )}
          </div>
          <button type="button" aria-disabled={stage !== 'live'} onClick={take}>
            {format('captureTake')}
          </button>
        </>
      )}
      <button type="button" class={trouble === null ? 'second' : ''} onClick={() => file.current!.click()}>
        {format(trouble === null ? 'captureUpload' : 'captureUploadOnly')}
      </button>
      <input
        ref={file}
        type="file"
        accept={FILES}
        hidden
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          // The same file chosen again is a choice too.
          currentTarget.value = '';
          if (chosen !== undefined) chose(chosen);
        }}
      />
      {trouble !== null && mayWorkLater && (
        <button type="button" class="second" onClick={again}>
          {format('captureCameraAgain')}
        </button>
      )}
      <SandboxNote>
        {format('captureSandbox')}{' '}
        <button type="button" class="link" onClick={() => took(samplePhoto(title))}>
          {format('captureSample')}
        </button>
      </SandboxNote>
    </>
  );
}
