import QtQuick
import Cached

/// A picture of the cache, with the states of its download.
Item {
    id: root

    /// The image: its URL, the account of the program that it belongs to, and the pixels of its longer side.
    property alias url: request.url
    property alias account: request.account
    property alias headers: request.headers
    /// Follows sourceSize unless it is set; 0: the whole image.
    property int side: Math.max(sourceSize.width, sourceSize.height)
    property alias active: request.active

    /// CachedRequest.Null, Missing, InFlight, Cached or Failed.
    readonly property alias status: request.status
    /// From 0 to 1; -1 while the origin has not sent the length.
    readonly property alias progress: request.progress
    readonly property string error: request.error || (image.status === Image.Error ? qsTr("the image cannot be decoded") : "")
    readonly property alias errorKind: request.errorKind
    /// Whether the picture is on the screen.
    readonly property bool isReady: image.status === Image.Ready

    property size sourceSize
    property alias fillMode: image.fillMode
    property alias horizontalAlignment: image.horizontalAlignment
    property alias verticalAlignment: image.verticalAlignment
    property alias mipmap: image.mipmap
    property alias mirror: image.mirror
    property alias cache: image.cache

    implicitWidth: image.implicitWidth
    implicitHeight: image.implicitHeight
    Accessible.role: Accessible.Graphic

    /// After a failure: asks the origin again.
    function retry() {
        request.retry()
    }

    CachedRequest {
        id: request
        // Twice the size if the shorter side counts: the shape is not known yet.
        side: root.fillMode === Image.PreserveAspectCrop ? root.side * 2 : root.side
    }

    Image {
        id: image
        anchors.fill: parent
        asynchronous: true
        autoTransform: true
        source: request.source
        sourceSize: root.sourceSize.width > 0 || root.sourceSize.height > 0 ? root.sourceSize : undefined
    }
}
