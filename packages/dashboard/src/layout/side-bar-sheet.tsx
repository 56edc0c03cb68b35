import { X } from 'lucide-react'
import { useEffect } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from '../components/button.tsx'
import { messages } from '../messages/messages.ts'
import styles from './layout.module.css'
import { SideBarContent } from './side-bar-content.tsx'

/** The width from which the side bar is beside the page. It is also in the style sheets. */
const WIDE = '(min-width: 721px)'

/** The side bar over a narrow page. It closes when a page is opened or the window becomes wide. */
export function SideBarSheet({ onClose }: { readonly onClose: () => void }) {
  useEffect(() => {
    const query = window.matchMedia(WIDE)
    const closeIfWide = () => query.matches && onClose()
    query.addEventListener('change', closeIfWide)
    return () => query.removeEventListener('change', closeIfWide)
  }, [onClose])
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={styles.overlay ?? ''}
    >
      <Modal className={styles.sheet ?? ''}>
        <Dialog aria-label={messages.shell.navigation} className={styles.sheetContent ?? ''}>
          <div className={styles.sheetHead}>
            <span className={styles.product}>{messages.shell.product}</span>
            <Button variant="ghost" aria-label={messages.shell.closeNavigation} onPress={onClose}>
              <X size={18} aria-hidden="true" />
            </Button>
          </div>
          <SideBarContent onOpen={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
