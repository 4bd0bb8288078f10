import type { Messages } from '../../src/contexts/onboarding/words/messages.js';
import { EMBEDDED } from './host.js';

export type CameraTrouble = Extract<keyof Messages, `camera${string}`>;
type Facing = 'user' | 'environment';

/** Opens the camera facing that way, or another one. Returns the trouble if no camera can be opened. */
export async function openCamera(facing: Facing): Promise<MediaStream | CameraTrouble> {
  if (!window.isSecureContext) return 'cameraInsecure';
  if (EMBEDDED && !mayUseCamera()) return 'cameraNotDelegated';
  if (navigator.mediaDevices === undefined) return 'cameraNone';
  const video = { facingMode: { ideal: facing }, width: { ideal: 1920 }, height: { ideal: 1080 } };
  try {
    return await navigator.mediaDevices.getUserMedia({ video, audio: false });
  } catch (error) {
    return troubleOf(error);
  }
}

export function closeCamera(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

/** Returns true if the embedding page allows the camera, and in browsers without `featurePolicy`. */
function mayUseCamera(): boolean {
  const { featurePolicy } = document as {
    readonly featurePolicy?: { allowsFeature(feature: string): boolean };
  };
  return featurePolicy?.allowsFeature('camera') ?? true;
}

function troubleOf(error: unknown): CameraTrouble {
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'cameraRefused';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'cameraNone';
    case 'NotReadableError':
    case 'AbortError':
      return 'cameraBusy';
    default:
      return 'cameraUnknown';
  }
}
